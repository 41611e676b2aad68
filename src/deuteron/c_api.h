/*! \file
 * Deuteron for programs in C, and in every language that can call C.
 *
 *     DeuteronModel* model;
 *     if (DeuteronLoad("model.so", NULL, &model) != DEUTERON_OK) puts(DeuteronLastError());
 *
 * docs/c_api.md goes through it with an example. Functions of models, instances, memory and threads are in
 * libdeuteron_runtime; those that compile are in libdeuteron.
 *
 * Rules. Every function that can fail returns a DeuteronStatus; what was wrong is then DeuteronLastError() in the same
 * thread, and results are as they were. No exception comes out. Structs that may grow begin with `struct_size`, which
 * their _INIT value sets: a library and a program of different versions agree on the fields that both know. Text is
 * UTF-8 and ends with a zero; pointers in a DeuteronTensorInfo live as long as the model. Pointers may be null only
 * where it is said.
 */
#ifndef DEUTERON_C_API_H_
#define DEUTERON_C_API_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*! Grows by one when something is added; nothing is taken away or changed within a major version of the library. */
#define DEUTERON_C_API_VERSION 6

/*! Whose fault it is, as the command's exit status. */
typedef enum DeuteronStatus {
  DEUTERON_OK = 0,
  /*! Of the library, or of memory that could not be had. */
  DEUTERON_INTERNAL_ERROR = 1,
  /*! Wrong values of the caller's: an input of another shape or dtype, a function called too late. */
  DEUTERON_USAGE_ERROR = 2,
  /*! A file that is missing, malformed or damaged. */
  DEUTERON_MODEL_ERROR = 3,
  /*! Valid, but not implemented, or for another processor. */
  DEUTERON_UNSUPPORTED_ERROR = 4,
  /*! Results differ. */
  DEUTERON_MISMATCH_ERROR = 5,
  /*! The caller's own callback ended it. */
  DEUTERON_CANCELLED = 6
} DeuteronStatus;

/*! What the last call that failed in this thread had to say; "" if none did. Until the next one fails. */
const char* DeuteronLastError(void);

/*! "0.1.0" */
const char* DeuteronVersion(void);
/*! DEUTERON_C_API_VERSION of the library. */
int32_t DeuteronCApiVersion(void);

/* --- Models ------------------------------------------------------------------------------------------------------ */

/*! Code and weights; never changes, and may be used by any number of threads at once. */
typedef struct DeuteronModel DeuteronModel;

typedef struct DeuteronLoadOptions {
  size_t struct_size;
  /*! Not 0: all weights are compared with their checksums at once; else each when it is first used. */
  int32_t verify_weights;
  /*! The file of the weights of an artefact that was saved without them; null: where it says that they are. Since 4. */
  const char* weights_file;
} DeuteronLoadOptions;
#define DEUTERON_LOAD_OPTIONS_INIT \
  { sizeof(DeuteronLoadOptions), 0, 0 }

/*! Maps an artefact of DeuteronSave or `deuteron compile`. `options` may be null. `*model` is null if it fails: here
 * and in all functions below a pointer that may not be null, and is, is a DEUTERON_USAGE_ERROR, no crash. */
DeuteronStatus DeuteronLoad(const char* path, const DeuteronLoadOptions* options, DeuteronModel** model);
/*! Instances of it, and tensors that they gave, may live on. `model` may be null. */
void DeuteronFreeModel(DeuteronModel* model);

/*! An input or output. */
typedef struct DeuteronTensorInfo {
  size_t struct_size;
  /*! As the model's author called it. */
  const char* name;
  DLDataType dtype;
  /*! -1 if even the number of dimensions is known only when the model runs. */
  int32_t ndim;
  /*! -1 where a dimension may be any. */
  const int64_t* shape;
  /*! Dimensions as text: "batch" where they may be any. */
  const char* const* dims;
} DeuteronTensorInfo;
#define DEUTERON_TENSOR_INFO_INIT \
  { sizeof(DeuteronTensorInfo), NULL, {0, 0, 0}, 0, NULL, NULL }

size_t DeuteronNumInputs(const DeuteronModel* model);
size_t DeuteronNumOutputs(const DeuteronModel* model);
/*! The input or output of that index, in the model's order; `info->struct_size` says what fits. */
DeuteronStatus DeuteronGetInput(const DeuteronModel* model, size_t index, DeuteronTensorInfo* info);
DeuteronStatus DeuteronGetOutput(const DeuteronModel* model, size_t index, DeuteronTensorInfo* info);

/* --- Running ----------------------------------------------------------------------------------------------------- */

/*! The memory that one run needs. Used by one thread at a time; several of one model run side by side. */
typedef struct DeuteronInstance DeuteronInstance;

typedef struct DeuteronInstanceOptions {
  size_t struct_size;
  /*! Of parallel loops; 0: as many as this process may use. */
  int32_t threads;
  /*! The most memory of a run beside the weights (run_bytes in docs/limits.md); 0: as it is unless given. */
  int64_t run_bytes;
} DeuteronInstanceOptions;
#define DEUTERON_INSTANCE_OPTIONS_INIT \
  { sizeof(DeuteronInstanceOptions), 0, 0 }

/*! `options` may be null. */
DeuteronStatus DeuteronCreateInstance(const DeuteronModel* model, const DeuteronInstanceOptions* options,
                                      DeuteronInstance** instance);
/*! `instance` may be null. */
void DeuteronFreeInstance(DeuteronInstance* instance);

/*! Runs the model into tensors of the caller's.
 *
 * Tensors are views: data, dtype, shape, strides in elements (null: row major without gaps); a tensor that came by
 * DLPack is `&managed->dl_tensor`. All inputs and outputs of the model, in its order, on the CPU. Data that is 64-byte
 * aligned and without gaps is used where it lies, other data is copied. Outputs have the shape and dtype of the results
 * and overlap neither inputs nor each other. */
DeuteronStatus DeuteronRun(DeuteronInstance* instance, const DLTensor* const* inputs, size_t num_inputs,
                           DLTensor* const* outputs, size_t num_outputs);
/*! The same into new tensors, which are the caller's: `outputs[i]->deleter(outputs[i])` when they are no longer needed.
 */
DeuteronStatus DeuteronRunToDLPack(DeuteronInstance* instance, const DLTensor* const* inputs, size_t num_inputs,
                                   struct DLManagedTensorVersioned** outputs, size_t num_outputs);

/* --- The embedder's threads and memory --------------------------------------------------------------------------- */

/*! One piece of a loop; not 0: it failed. */
typedef int (*DeuteronLoopBody)(void* closure, int64_t begin, int64_t end);
/*! Runs `body` over [0, extent) in pieces of at least `grain` by up to `threads` threads, the caller among them, and
 * returns when all are done: 0, or the result of one that failed. An exception out of it, once no piece is at work, is
 * an error of the run. */
typedef int (*DeuteronParallelFor)(void* user, int threads, int64_t extent, int64_t grain, DeuteronLoopBody body,
                                   void* closure);
/*! Replaces the library's threads in the whole process; null brings them back. Not while a model runs. */
void DeuteronSetParallelFor(DeuteronParallelFor parallel_for, void* user);

/*! `allocate` gives memory of that alignment, or null. Both may be called by several threads at once. */
typedef void* (*DeuteronAllocate)(void* user, size_t bytes, size_t alignment);
typedef void (*DeuteronRelease)(void* user, void* memory);
/*! Takes the memory of tensors and activations from the caller, in the whole process. A DEUTERON_USAGE_ERROR if such
 * memory has been allocated before: call it first. */
DeuteronStatus DeuteronSetAllocator(DeuteronAllocate allocate, DeuteronRelease release, void* user);

/* --- Compiling: libdeuteron -------------------------------------------------------------------------------------- */

/*! Called as a compilation proceeds, with what is done now. Not 0: ends it. */
typedef int (*DeuteronProgress)(void* user, const char* what);

/*! Dimensions of an input by its name, or of a symbolic dimension by its own, with one value. */
typedef struct DeuteronShape {
  const char* name;
  const int64_t* dims;
  int32_t ndim;
} DeuteronShape;

/*! A configuration key of a pass and its value, as `--config` has them. */
typedef struct DeuteronSetting {
  const char* key;
  const char* value;
} DeuteronSetting;

typedef struct DeuteronCompileOptions {
  size_t struct_size;
  /*! "native", or what docs/targets.md has. */
  const char* target;
  /*! That are compiled for; 0: as many as this process may use. */
  int32_t threads;
  /*! 0: no fusion, … 3. */
  int32_t opt_level;
  /*! "auto", "none", or a library: "dnnl". */
  const char* backend;
  /*! Of inputs whose dimensions the model leaves open. May be null if there are none. */
  const DeuteronShape* shapes;
  size_t num_shapes;
  /*! May be null if there are none. */
  const DeuteronSetting* config;
  size_t num_config;
  /*! May be null. */
  DeuteronProgress progress;
  void* progress_user;
  /*! What docs/limits.md has; "run_bytes", "4Gi". May be null if there are none. */
  const DeuteronSetting* limits;
  size_t num_limits;
  /*! What products of float32 may round their operands to: "f32", "bf16", "f16". May be null: "f32". */
  const char* precision;
  /*! A folder of what was compiled before, which is looked at first and added to (docs/cache.md); "default": the
   * user's. May be null: none. Since 5. */
  const char* cache;
} DeuteronCompileOptions;
#define DEUTERON_COMPILE_OPTIONS_INIT \
  { sizeof(DeuteronCompileOptions), "native", 0, 2, "auto", NULL, 0, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL }

/*! Compiles an .onnx file, or a .py module of the textual IR. `options` may be null. */
DeuteronStatus DeuteronCompileFile(const char* path, const DeuteronCompileOptions* options, DeuteronModel** model);
/*! Compiles an ONNX model in memory, which is copied. */
DeuteronStatus DeuteronCompileBytes(const void* data, size_t bytes, const DeuteronCompileOptions* options,
                                    DeuteronModel** model);
/*! Writes an artefact for DeuteronLoad; of a model that was itself loaded, what its file held. */
DeuteronStatus DeuteronSave(const DeuteronModel* model, const char* path);

typedef struct DeuteronSaveOptions {
  size_t struct_size;
  /*! A .safetensors file that the weights are added to instead, and that other artefacts may share: the artefact finds
   * it by the way from its own folder, or is told where it is (DeuteronLoadOptions). May be null: the artefact has its
   * weights. */
  const char* weights_file;
} DeuteronSaveOptions;
#define DEUTERON_SAVE_OPTIONS_INIT \
  { sizeof(DeuteronSaveOptions), NULL }

/*! DeuteronSave as `options` say, which may be null. A model that was loaded without its weights keeps them where they
 * are: to name a file is a DEUTERON_USAGE_ERROR. Since 6. */
DeuteronStatus DeuteronSaveAs(const DeuteronModel* model, const char* path, const DeuteronSaveOptions* options);

#ifdef __cplusplus
}
#endif

#endif /* DEUTERON_C_API_H_ */
