/* Runs an artefact with the runtime library alone, on threads of its own: two instances of one model side by side,
 * whose loops do not use the library's pool.
 *
 *     c_deployed ARTEFACT.so
 */
#include <deuteron/c_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Loops of the model, here in the calling thread. An embedder with a pool hands pieces of at least `grain` to it. */
static int run_here(void* user, int threads, int64_t extent, int64_t grain, DeuteronLoopBody body, void* closure) {
  (void)user, (void)threads, (void)grain;
  return body(closure, 0, extent);
}

static void* run(void* argument) {
  const DeuteronModel* model = argument;
  DeuteronTensorInfo info = DEUTERON_TENSOR_INFO_INIT;
  DeuteronInstance* instance = NULL;
  struct DLManagedTensorVersioned* result = NULL;
  DLTensor x = {NULL, {kDLCPU, 0}, 0, {0, 0, 0}, NULL, NULL, 0};
  const DLTensor* inputs[1];
  float* value = malloc(sizeof(float));
  int64_t count = 1, i;
  DeuteronGetInput(model, 0, &info);
  for (i = 0; i < info.ndim; ++i) count *= info.shape[i];
  x.data = calloc((size_t)count, sizeof(float));
  for (i = 0; i < count; ++i) ((float*)x.data)[i] = 1.0F;
  x.dtype = info.dtype;
  x.ndim = info.ndim;
  x.shape = (int64_t*)info.shape;
  inputs[0] = &x;
  if (DeuteronCreateInstance(model, NULL, &instance) != DEUTERON_OK ||
      DeuteronRunToDLPack(instance, inputs, 1, &result, 1) != DEUTERON_OK) {
    fprintf(stderr, "deuteron: %s\n", DeuteronLastError());
    exit(1);
  }
  *value = ((const float*)result->dl_tensor.data)[0];
  result->deleter(result);
  DeuteronFreeInstance(instance);
  free(x.data);
  return value;
}

int main(int argc, char** argv) {
  DeuteronModel* model;
  pthread_t threads[2];
  int i;
  if (argc != 2) return 2;
  if (DeuteronLoad(argv[1], NULL, &model) != DEUTERON_OK) {
    fprintf(stderr, "deuteron: %s\n", DeuteronLastError());
    return 1;
  }
  DeuteronSetParallelFor(run_here, NULL);
  for (i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, run, model);
  for (i = 0; i < 2; ++i) {
    void* value;
    pthread_join(threads[i], &value);
    printf("%.6f\n", *(float*)value);
    free(value);
  }
  DeuteronFreeModel(model);
  return 0;
}
