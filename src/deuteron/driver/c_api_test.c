/* The C API as a C99 program sees it: every function, what each refuses, structs of older callers, two instances at
 * once, the caller's threads and memory. Results are compared with what plain arithmetic gives, to the last bit: all
 * numbers are small integers. */
#include "deuteron/c_api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      ++failures;                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      fprintf(stderr, "  last error: %s\n", DeuteronLastError());     \
    }                                                                 \
  } while (0)

#define REFUSED(call, status, text)                      \
  do {                                                   \
    EXPECT((call) == (status));                          \
    EXPECT(strstr(DeuteronLastError(), (text)) != NULL); \
  } while (0)

/* y = relu(x · w + x · w), rows open. */
static const char* const kModule =
    "@I.ir_module\n"
    "class Module:\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((\"n\", 3), \"float32\"), w: R.Tensor((3, 64), \"float32\")) -> R.Tensor((\"n\", 64), "
    "\"float32\"):\n"
    "        n = T.int64()\n"
    "        with R.dataflow():\n"
    "            p: R.Tensor((n, 64), \"float32\") = R.matmul(x, w)\n"
    "            s: R.Tensor((n, 64), \"float32\") = R.add(p, p)\n"
    "            y: R.Tensor((n, 64), \"float32\") = R.nn.relu(s)\n"
    "            R.output(y)\n"
    "        return y\n";

enum { kColumns = 64 };
static float weights[3 * kColumns];

static DLTensor view(void* data, int32_t ndim, int64_t* shape, int64_t* strides) {
  DLTensor tensor = {NULL, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  tensor.data = data;
  tensor.ndim = ndim;
  tensor.shape = shape;
  tensor.strides = strides;
  return tensor;
}

static float expected(const float* x, int64_t row_stride, int64_t column_stride, int64_t i, int64_t j) {
  float sum = 0;
  int k;
  for (k = 0; k < 3; ++k) sum += x[i * row_stride + k * column_stride] * weights[k * kColumns + j];
  return sum > 0 ? 2 * sum : 0;
}

/* Runs on rows of small integers, in the layout that the strides say, and compares. */
static void check_run(DeuteronInstance* instance, int64_t rows, int transposed) {
  float* x = malloc((size_t)rows * 3 * sizeof(float));
  float* y = malloc((size_t)rows * kColumns * sizeof(float));
  int64_t x_shape[2], w_shape[2] = {3, kColumns}, y_shape[2], strides[2];
  DLTensor tensors[3];
  const DLTensor* inputs[2];
  DLTensor* outputs[1];
  struct DLManagedTensorVersioned* fresh = NULL;
  int64_t i, j;
  int right = 1;
  x_shape[0] = y_shape[0] = rows;
  x_shape[1] = 3;
  y_shape[1] = kColumns;
  strides[0] = transposed ? 1 : 3;
  strides[1] = transposed ? rows : 1;
  for (i = 0; i < rows * 3; ++i) x[i] = (float)(i % 11 - 5);
  tensors[0] = view(x, 2, x_shape, strides);
  tensors[1] = view(weights, 2, w_shape, NULL);
  tensors[2] = view(y, 2, y_shape, NULL);
  inputs[0] = &tensors[0];
  inputs[1] = &tensors[1];
  outputs[0] = &tensors[2];
  EXPECT(DeuteronRun(instance, inputs, 2, outputs, 1) == DEUTERON_OK);
  EXPECT(DeuteronRunToDLPack(instance, inputs, 2, &fresh, 1) == DEUTERON_OK);
  if (fresh == NULL) return;
  EXPECT(fresh->dl_tensor.ndim == 2 && fresh->dl_tensor.shape[0] == rows && fresh->dl_tensor.shape[1] == kColumns);
  for (i = 0; i < rows; ++i) {
    for (j = 0; j < kColumns; ++j) {
      const float wanted = expected(x, strides[0], strides[1], i, j);
      right =
          right && y[i * kColumns + j] == wanted && ((const float*)fresh->dl_tensor.data)[i * kColumns + j] == wanted;
    }
  }
  EXPECT(right);
  fresh->deleter(fresh);
  free(x);
  free(y);
}

static void* run_often(void* argument) {
  DeuteronInstance* instance = NULL;
  int i;
  if (DeuteronCreateInstance(argument, NULL, &instance) != DEUTERON_OK) return argument;
  for (i = 1; i < 50; ++i) check_run(instance, i, i % 2);
  DeuteronFreeInstance(instance);
  return NULL;
}

static void check_what_is_refused(const DeuteronModel* model, DeuteronInstance* instance) {
  float data[8] = {0};
  int64_t shape[2] = {1, 3}, wrong[2] = {2, 2}, negative[2] = {-3, 2};
  DLTensor x = view(data, 2, shape, NULL), w = view(data, 2, wrong, NULL), y = view(data, 2, wrong, NULL);
  const DLTensor* inputs[2];
  DLTensor* outputs[1];
  DeuteronTensorInfo info = DEUTERON_TENSOR_INFO_INIT;
  DeuteronModel* none = NULL;
  DeuteronCompileOptions options = DEUTERON_COMPILE_OPTIONS_INIT;
  inputs[0] = &x;
  inputs[1] = &w;
  outputs[0] = &y;
  REFUSED(DeuteronLoad("/nowhere/model.so", NULL, &none), DEUTERON_MODEL_ERROR, "/nowhere/model.so");
  REFUSED(DeuteronCompileFile("/nowhere/model.onnx", NULL, &none), DEUTERON_MODEL_ERROR, "/nowhere/model.onnx");
  REFUSED(DeuteronCompileBytes("text", 4, NULL, &none), DEUTERON_MODEL_ERROR, "is not an ONNX model");
  REFUSED(DeuteronGetInput(model, 2, &info), DEUTERON_USAGE_ERROR, "the model has 2");
  REFUSED(DeuteronRun(instance, inputs, 1, outputs, 1), DEUTERON_USAGE_ERROR, "2 inputs, given 1");
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "w");
  inputs[1] = NULL;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "input 1 is a null pointer");
  inputs[1] = &w;
  w.data = NULL;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "has no data");
  w.data = data;
  w.ndim = -1;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "input 1 has no shape");
  w.ndim = 1000;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "input 1 has no shape (of rank 1000)");
  w.ndim = 2;
  w.shape = NULL;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "input 1 has no shape");
  w.shape = wrong;
  w.dtype.code = 99;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "input 1 has no dtype (of code 99)");
  w.dtype.code = kDLFloat;
  w.dtype.lanes = 0;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR,
          "input 1 has no dtype (of 32 bits and 0 lanes); numbers have 1 lane");
  w.dtype.lanes = 1;
  w.shape = negative;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "input 1 has a negative extent: -3");
  w.shape = wrong;
  REFUSED(DeuteronRun(instance, NULL, 2, outputs, 1), DEUTERON_USAGE_ERROR, "inputs are a null pointer");
  w.device.device_type = kDLCUDA;
  REFUSED(DeuteronRun(instance, inputs, 2, outputs, 1), DEUTERON_USAGE_ERROR, "memory of the CPU");
  options.target = "nonsense";
  REFUSED(DeuteronCompileFile("/nowhere/model.onnx", &options, &none), DEUTERON_MODEL_ERROR, "model.onnx");
  EXPECT(none == NULL);
}

/* y = x · c, where c is part of the model. */
/* What callers leave out who do not look at what failed before. */
/* Texts and lists of options that are not there. */
static void check_null_options(const char* path) {
  const DeuteronCompileOptions fresh = DEUTERON_COMPILE_OPTIONS_INIT;
  DeuteronCompileOptions options = fresh;
  const int64_t dims[1] = {3};
  DeuteronShape shape;
  DeuteronSetting setting = {NULL, NULL};
  DeuteronModel* none = NULL;
  options.target = NULL;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "target is a null pointer");
  options = fresh;
  options.backend = NULL;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "backend is a null pointer");
  options = fresh;
  options.num_config = 1;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "keys is a null pointer");
  options.config = &setting;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "key is a null pointer");
  setting.key = "check_bounds";
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "value of a configuration key is");
  options = fresh;
  options.num_limits = 1;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "list of limits is a null pointer");
  options.limits = &setting;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "value of a limit is a null pointer");
  setting.key = NULL;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "name of a limit is a null pointer");
  options = fresh;
  options.num_shapes = 1;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "list of shapes is a null pointer");
  shape.name = NULL;
  shape.dims = dims;
  shape.ndim = -1;
  options.shapes = &shape;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "name of a shape is a null pointer");
  shape.name = "x";
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "given for 'x' is of rank -1");
  shape.dims = NULL;
  shape.ndim = 1;
  REFUSED(DeuteronCompileFile(path, &options, &none), DEUTERON_USAGE_ERROR, "dimensions of a shape is a null");
  EXPECT(none == NULL);
}

static void check_null_pointers(const DeuteronModel* model, DeuteronInstance* instance, const char* path) {
  DeuteronModel* none = (DeuteronModel*)model;
  DeuteronInstance* no_instance = instance;
  DeuteronTensorInfo info = DEUTERON_TENSOR_INFO_INIT;
  DeuteronInstanceOptions unset;
  float x[3] = {1, 2, 3};
  int64_t x_shape[2] = {1, 3}, w_shape[2] = {3, kColumns};
  DLTensor tensors[2];
  const DLTensor* inputs[2];
  memset(&unset, 0, sizeof(unset));
  tensors[0] = view(x, 2, x_shape, NULL);
  tensors[1] = view(weights, 2, w_shape, NULL);
  inputs[0] = &tensors[0];
  inputs[1] = &tensors[1];
  REFUSED(DeuteronLoad(path, NULL, NULL), DEUTERON_USAGE_ERROR, "place for the model is a null pointer");
  REFUSED(DeuteronLoad(NULL, NULL, &none), DEUTERON_USAGE_ERROR, "path is a null pointer");
  EXPECT(none == NULL);
  REFUSED(DeuteronCompileFile(path, NULL, NULL), DEUTERON_USAGE_ERROR, "place for the model is a null pointer");
  REFUSED(DeuteronCompileFile(NULL, NULL, &none), DEUTERON_USAGE_ERROR, "path is a null pointer");
  REFUSED(DeuteronCompileBytes(NULL, 8, NULL, &none), DEUTERON_USAGE_ERROR, "model in memory is a null pointer");
  REFUSED(DeuteronSave(NULL, path), DEUTERON_USAGE_ERROR, "model is a null pointer");
  REFUSED(DeuteronSave(model, NULL), DEUTERON_USAGE_ERROR, "path is a null pointer");
  EXPECT(DeuteronNumInputs(NULL) == 0 && DeuteronNumOutputs(NULL) == 0);
  REFUSED(DeuteronGetInput(NULL, 0, &info), DEUTERON_USAGE_ERROR, "model is a null pointer");
  REFUSED(DeuteronGetOutput(model, 0, NULL), DEUTERON_USAGE_ERROR, "DeuteronTensorInfo is a null pointer");
  info.struct_size = 0;
  REFUSED(DeuteronGetInput(model, 0, &info), DEUTERON_USAGE_ERROR, "struct_size is 0");
  REFUSED(DeuteronCreateInstance(model, &unset, &no_instance), DEUTERON_USAGE_ERROR, "struct_size is 0");
  EXPECT(no_instance == NULL);
  REFUSED(DeuteronCreateInstance(NULL, NULL, &no_instance), DEUTERON_USAGE_ERROR, "model is a null pointer");
  REFUSED(DeuteronCreateInstance(model, NULL, NULL), DEUTERON_USAGE_ERROR, "place for the instance");
  REFUSED(DeuteronRun(NULL, inputs, 2, NULL, 0), DEUTERON_USAGE_ERROR, "instance is a null pointer");
  REFUSED(DeuteronRunToDLPack(instance, inputs, 2, NULL, 1), DEUTERON_USAGE_ERROR, "array for the outputs");
  REFUSED(DeuteronSetAllocator(NULL, NULL, NULL), DEUTERON_USAGE_ERROR, "allocated already");
  check_null_options(path);
}

static const char* const kModuleWithWeights =
    "@I.ir_module\n"
    "class Module:\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((2, 3), \"float32\")) -> R.Tensor((2, 64), \"float32\"):\n"
    "        with R.dataflow():\n"
    "            c: R.Tensor((192,), \"float32\") = R.arange(0, 192, 1, dtype=\"float32\")\n"
    "            w: R.Tensor((3, 64), \"float32\") = R.reshape(c, (3, 64))\n"
    "            y: R.Tensor((2, 64), \"float32\") = R.matmul(x, w)\n"
    "            R.output(y)\n"
    "        return y\n";

static void write_text(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  EXPECT(file != NULL);
  if (file == NULL) return;
  fputs(text, file);
  fclose(file);
}

static long size_of(const char* path) {
  long size = -1;
  FILE* file = fopen(path, "rb");
  if (file == NULL) return size;
  if (fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  fclose(file);
  return size;
}

/* Ones times 0, 1, 2, …: a column's sum. */
static void check_sums(const DeuteronModel* model) {
  DeuteronInstance* instance = NULL;
  float x[6] = {1, 1, 1, 1, 1, 1}, y[2 * kColumns];
  int64_t x_shape[2] = {2, 3}, y_shape[2] = {2, kColumns};
  DLTensor tensors[2];
  const DLTensor* inputs[1];
  DLTensor* outputs[1];
  int i, right = 1;
  tensors[0] = view(x, 2, x_shape, NULL);
  tensors[1] = view(y, 2, y_shape, NULL);
  inputs[0] = &tensors[0];
  outputs[0] = &tensors[1];
  EXPECT(DeuteronCreateInstance(model, NULL, &instance) == DEUTERON_OK);
  if (instance == NULL) return;
  EXPECT(DeuteronRun(instance, inputs, 1, outputs, 1) == DEUTERON_OK);
  for (i = 0; i < 2 * kColumns; ++i) right = right && y[i] == (float)(3 * (i % kColumns) + 3 * kColumns);
  EXPECT(right);
  DeuteronFreeInstance(instance);
}

/* Two artefacts, one from what was compiled and one from what was loaded, share one file of weights. */
static void check_weights_apart(const char* folder) {
  char source[512], whole[512], first[512], second[512], weights_path[512], moved[512];
  DeuteronModel *model = NULL, *loaded = NULL, *apart = NULL;
  DeuteronSaveOptions save = DEUTERON_SAVE_OPTIONS_INIT;
  DeuteronLoadOptions load = DEUTERON_LOAD_OPTIONS_INIT;
  long bytes;
  snprintf(source, sizeof(source), "%s/c_api_weights.py", folder);
  snprintf(whole, sizeof(whole), "%s/c_api_whole.so", folder);
  snprintf(first, sizeof(first), "%s/c_api_first.so", folder);
  snprintf(second, sizeof(second), "%s/c_api_second.so", folder);
  snprintf(weights_path, sizeof(weights_path), "%s/c_api.safetensors", folder);
  snprintf(moved, sizeof(moved), "%s/c_api_moved.safetensors", folder);
  remove(weights_path);
  write_text(source, kModuleWithWeights);
  EXPECT(DeuteronCompileFile(source, NULL, &model) == DEUTERON_OK);
  if (model == NULL) return;
  EXPECT(DeuteronSaveAs(model, whole, NULL) == DEUTERON_OK);
  EXPECT(size_of(weights_path) == -1);
  save.weights_file = weights_path;
  EXPECT(DeuteronSaveAs(model, first, &save) == DEUTERON_OK);
  bytes = size_of(weights_path);
  EXPECT(bytes > 192 * (long)sizeof(float) && size_of(first) < size_of(whole));
  EXPECT(DeuteronLoad(whole, NULL, &loaded) == DEUTERON_OK);
  if (loaded == NULL) return;
  EXPECT(DeuteronSaveAs(loaded, second, &save) == DEUTERON_OK);
  EXPECT(size_of(weights_path) == bytes);
  EXPECT(DeuteronLoad(second, NULL, &apart) == DEUTERON_OK);
  if (apart == NULL) return;
  check_sums(apart);
  REFUSED(DeuteronSaveAs(apart, whole, &save), DEUTERON_USAGE_ERROR, "has its weights in c_api.safetensors already");
  /* An older caller's options have no room for a file. */
  save.struct_size = sizeof(save.struct_size);
  EXPECT(DeuteronSaveAs(loaded, whole, &save) == DEUTERON_OK);
  DeuteronFreeModel(apart);
  apart = NULL;
  EXPECT(rename(weights_path, moved) == 0);
  REFUSED(DeuteronLoad(first, NULL, &apart), DEUTERON_MODEL_ERROR, "c_api.safetensors");
  load.weights_file = moved;
  EXPECT(DeuteronLoad(first, &load, &apart) == DEUTERON_OK);
  if (apart != NULL) check_sums(apart);
  DeuteronFreeModel(apart);
  DeuteronFreeModel(loaded);
  DeuteronFreeModel(model);
  remove(source);
  remove(whole);
  remove(first);
  remove(second);
  remove(moved);
}

static int cancel(void* user, const char* what) {
  ++*(int*)user;
  (void)what;
  return 1;
}

static int count_loops(void* user, int threads, int64_t extent, int64_t grain, DeuteronLoopBody body, void* closure) {
  ++*(int*)user;
  (void)threads;
  (void)grain;
  return body(closure, 0, extent);
}

static int64_t allocated = 0, released = 0;
static pthread_mutex_t memory_mutex = PTHREAD_MUTEX_INITIALIZER;

static void* allocate(void* user, size_t bytes, size_t alignment) {
  char* memory = malloc(bytes + alignment);
  const size_t skip = alignment - (size_t)memory % alignment;
  (void)user;
  if (memory == NULL || alignment > 128) return NULL;
  memory[skip - 1] = (char)skip;
  pthread_mutex_lock(&memory_mutex);
  ++allocated;
  pthread_mutex_unlock(&memory_mutex);
  return memory + skip;
}

static void release(void* user, void* memory) {
  char* aligned = memory;
  (void)user;
  pthread_mutex_lock(&memory_mutex);
  ++released;
  pthread_mutex_unlock(&memory_mutex);
  free(aligned - aligned[-1]);
}

static int count_stages(void* user, const char* what) {
  *(int*)user += strstr(what, "code") != NULL;
  return 0;
}

/* What was compiled before is taken from the folder: no code is generated. */
static void check_cache(const char* path, const char* folder) {
  DeuteronCompileOptions options = DEUTERON_COMPILE_OPTIONS_INIT;
  int stages[3] = {0, 0, 0}, turn;
  char clear[600];
  snprintf(clear, sizeof(clear), "rm -rf '%s'", folder);
  EXPECT(system(clear) == 0);
  options.cache = folder;
  options.progress = count_stages;
  for (turn = 0; turn < 3; ++turn) {
    DeuteronModel* model = NULL;
    DeuteronInstance* instance = NULL;
    options.progress_user = &stages[turn];
    if (turn == 2) options.cache = NULL;
    EXPECT(DeuteronCompileFile(path, &options, &model) == DEUTERON_OK);
    if (model == NULL) return;
    EXPECT(DeuteronCreateInstance(model, NULL, &instance) == DEUTERON_OK);
    check_run(instance, 4, 0);
    DeuteronFreeInstance(instance);
    DeuteronFreeModel(model);
  }
  EXPECT(stages[0] > 0 && stages[1] == 0 && stages[2] > 0);
  EXPECT(system(clear) == 0);
}

int main(int argc, char** argv) {
  char path[512], artefact[512], copy[512], cache[512];
  DeuteronModel *model = NULL, *loaded = NULL, *reloaded = NULL;
  DeuteronInstance *instance = NULL, *again = NULL;
  DeuteronTensorInfo info = DEUTERON_TENSOR_INFO_INIT;
  DeuteronInstanceOptions threads = DEUTERON_INSTANCE_OPTIONS_INIT;
  DeuteronCompileOptions options = DEUTERON_COMPILE_OPTIONS_INIT;
  pthread_t hosts[2];
  void* result;
  int calls = 0, i;
  if (argc != 2) return 2;
  for (i = 0; i < 3 * kColumns; ++i) weights[i] = (float)(i * 5 % 13 - 6);
  snprintf(path, sizeof(path), "%s/c_api_test.py", argv[1]);
  snprintf(artefact, sizeof(artefact), "%s/c_api_test.so", argv[1]);
  snprintf(copy, sizeof(copy), "%s/c_api_test_copy.so", argv[1]);
  snprintf(cache, sizeof(cache), "%s/c_api_test_cache", argv[1]);
  write_text(path, kModule);

  EXPECT(strcmp(DeuteronLastError(), "") == 0);
  EXPECT(DeuteronCApiVersion() == DEUTERON_C_API_VERSION);
  EXPECT(DeuteronVersion()[0] != '\0');
  EXPECT(DeuteronSetAllocator(allocate, release, NULL) == DEUTERON_OK);

  options.progress = cancel;
  options.progress_user = &calls;
  REFUSED(DeuteronCompileFile(path, &options, &model), DEUTERON_CANCELLED, "ended by the caller");
  EXPECT(calls == 1 && model == NULL);
  /* A caller of a version that knew only the target. */
  options.struct_size = offsetof(DeuteronCompileOptions, threads);
  EXPECT(DeuteronCompileFile(path, &options, &model) == DEUTERON_OK);
  EXPECT(calls == 1);
  if (model == NULL) return 1;
  EXPECT(DeuteronSave(model, artefact) == DEUTERON_OK);
  {
    const DeuteronSetting limits[] = {{"run_bytes", "4Gi"}, {"nodes", "0"}};
    DeuteronCompileOptions limited = options;
    DeuteronModel* none = NULL;
    limited.struct_size = sizeof(limited);
    limited.progress = NULL;
    limited.limits = limits;
    limited.num_limits = 1;
    EXPECT(DeuteronCompileFile(path, &limited, &none) == DEUTERON_OK);
    DeuteronFreeModel(none);
    none = NULL;
    limited.num_limits = 2;
    EXPECT(DeuteronCompileFile(path, &limited, &none) == DEUTERON_UNSUPPORTED_ERROR && none == NULL);
    EXPECT(strstr(DeuteronLastError(), "nodes=0") != NULL);
  }
  DeuteronFreeModel(model);
  check_cache(path, cache);
  check_weights_apart(argv[1]);

  EXPECT(DeuteronLoad(artefact, NULL, &loaded) == DEUTERON_OK);
  if (loaded == NULL) return 1;
  /* Its own file and another one: what was loaded goes on. */
  EXPECT(DeuteronSave(loaded, artefact) == DEUTERON_OK);
  EXPECT(DeuteronSave(loaded, copy) == DEUTERON_OK);
  EXPECT(DeuteronLoad(copy, NULL, &reloaded) == DEUTERON_OK);
  EXPECT(reloaded != NULL && DeuteronNumInputs(reloaded) == 2);
  DeuteronFreeModel(reloaded);
  remove(copy);
  REFUSED(DeuteronSave(loaded, "/no such folder/model.so"), DEUTERON_USAGE_ERROR, "does not exist");
  EXPECT(DeuteronNumInputs(loaded) == 2 && DeuteronNumOutputs(loaded) == 1);
  EXPECT(DeuteronGetInput(loaded, 0, &info) == DEUTERON_OK);
  EXPECT(strcmp(info.name, "x") == 0 && info.ndim == 2 && info.shape[0] == -1 && info.shape[1] == 3);
  EXPECT(strcmp(info.dims[0], "n") == 0 && info.dtype.code == kDLFloat && info.dtype.bits == 32);
  /* What an older caller's struct has no room for is not written. */
  info.struct_size = offsetof(DeuteronTensorInfo, ndim);
  info.ndim = 17;
  EXPECT(DeuteronGetOutput(loaded, 0, &info) == DEUTERON_OK);
  EXPECT(info.ndim == 17 && info.struct_size == offsetof(DeuteronTensorInfo, ndim));

  EXPECT(DeuteronCreateInstance(loaded, NULL, &instance) == DEUTERON_OK);
  threads.threads = -1;
  REFUSED(DeuteronCreateInstance(loaded, &threads, &again), DEUTERON_USAGE_ERROR, "threads: -1");
  check_run(instance, 4, 0);
  check_run(instance, 5, 1);
  REFUSED(DeuteronSetAllocator(allocate, release, NULL), DEUTERON_USAGE_ERROR, "allocated already");
  check_what_is_refused(loaded, instance);
  check_null_pointers(loaded, instance, artefact);
  check_run(instance, 4, 0);

  for (i = 0; i < 2; ++i) pthread_create(&hosts[i], NULL, run_often, loaded);
  for (i = 0; i < 2; ++i) {
    pthread_join(hosts[i], &result);
    EXPECT(result == NULL);
  }

  threads.threads = 4;
  EXPECT(DeuteronCreateInstance(loaded, &threads, &again) == DEUTERON_OK);
  calls = 0;
  DeuteronSetParallelFor(count_loops, &calls);
  check_run(again, 20000, 0);
  EXPECT(calls > 0);
  calls = 0;
  DeuteronSetParallelFor(NULL, NULL);
  check_run(again, 20000, 0);
  EXPECT(calls == 0);

  DeuteronFreeInstance(instance);
  DeuteronFreeInstance(again);
  DeuteronFreeModel(loaded);
  DeuteronFreeModel(NULL);
  EXPECT(allocated > 0 && released > 0 && released <= allocated);
  remove(path);
  remove(artefact);
  printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
