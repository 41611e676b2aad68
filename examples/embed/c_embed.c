/* Compiles a network, saves it, loads what was saved, and runs it on an input of ones.
 *
 *     c_embed MODEL.onnx ARTEFACT.so
 */
#include <deuteron/c_api.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the message of a call that failed. */
static void check(DeuteronStatus status) {
  if (status == DEUTERON_OK) return;
  fprintf(stderr, "deuteron: %s\n", DeuteronLastError());
  exit((int)status);
}

static int show_progress(void* user, const char* what) {
  (void)user;
  fprintf(stderr, "%s\n", what);
  return 0; /* anything else ends the compilation */
}

/* A view of new memory for an input or output whose shape is known; floats, all 1. */
static DLTensor ones(const DeuteronTensorInfo* info) {
  DLTensor tensor = {NULL, {kDLCPU, 0}, 0, {0, 0, 0}, NULL, NULL, 0};
  int64_t count = 1, i;
  float* data;
  for (i = 0; i < info->ndim; ++i) count *= info->shape[i];
  data = malloc((size_t)count * sizeof(float));
  for (i = 0; i < count; ++i) data[i] = 1.0F;
  tensor.data = data;
  tensor.dtype = info->dtype;
  tensor.ndim = info->ndim;
  tensor.shape = (int64_t*)info->shape;
  return tensor;
}

int main(int argc, char** argv) {
  DeuteronCompileOptions options = DEUTERON_COMPILE_OPTIONS_INIT;
  DeuteronTensorInfo input = DEUTERON_TENSOR_INFO_INIT, output = DEUTERON_TENSOR_INFO_INIT;
  DeuteronModel* model;
  DeuteronInstance* instance;
  struct DLManagedTensorVersioned* fresh;
  DLTensor x, y;
  const DLTensor* inputs[1];
  DLTensor* outputs[1];
  if (argc != 3) return 2;

  options.threads = 2;
  options.progress = show_progress;
  check(DeuteronCompileFile(argv[1], &options, &model));
  check(DeuteronSave(model, argv[2]));
  DeuteronFreeModel(model);

  /* From here on libdeuteron_runtime does. */
  check(DeuteronLoad(argv[2], NULL, &model));
  check(DeuteronCreateInstance(model, NULL, &instance));
  check(DeuteronGetInput(model, 0, &input));
  check(DeuteronGetOutput(model, 0, &output));
  x = ones(&input);
  y = ones(&output);
  inputs[0] = &x;
  outputs[0] = &y;

  /* Into memory of ours … */
  check(DeuteronRun(instance, inputs, 1, outputs, 1));
  printf("%s -> %s: %.6f", input.name, output.name, ((const float*)y.data)[0]);
  /* … and into memory of the library's. */
  check(DeuteronRunToDLPack(instance, inputs, 1, &fresh, 1));
  printf(" %.6f\n", ((const float*)fresh->dl_tensor.data)[0]);

  fresh->deleter(fresh);
  free(x.data);
  free(y.data);
  DeuteronFreeInstance(instance);
  DeuteronFreeModel(model);
  return 0;
}
