# Written by python/stubs.py.
from typing import Any

from ._operators import call_dps_packed as call_dps_packed, call_tir as call_tir
from ._operators import register_alter_op_layout as register_alter_op_layout
from .expr import Call
def abs(x: Any) -> Call:
    """relax.abs(x). Attributes: none. A UsageError for others."""
def acos(x: Any) -> Call:
    """relax.acos(x). Attributes: none. A UsageError for others."""
def acosh(x: Any) -> Call:
    """relax.acosh(x). Attributes: none. A UsageError for others."""
def add(x1: Any, x2: Any) -> Call:
    """relax.add(x1, x2). Attributes: none. A UsageError for others."""
def arange(start: Any, end: Any, step: Any, dtype: Any = ...) -> Call:
    """relax.arange(start, end, step). Attributes: dtype. A UsageError for others."""
def argmax(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.argmax(x). Attributes: axis, keepdims. A UsageError for others."""
def argmin(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.argmin(x). Attributes: axis, keepdims. A UsageError for others."""
def argsort(data: Any, axis: Any = ..., descending: Any = ..., dtype: Any = ...) -> Call:
    """relax.argsort(data). Attributes: axis, descending, dtype. A UsageError for others."""
def asin(x: Any) -> Call:
    """relax.asin(x). Attributes: none. A UsageError for others."""
def asinh(x: Any) -> Call:
    """relax.asinh(x). Attributes: none. A UsageError for others."""
def assert_op(condition: Any, *args: Any) -> Call:
    """relax.assert_op(condition, *). Attributes: none. A UsageError for others."""
def astype(x: Any, dtype: Any = ...) -> Call:
    """relax.astype(x). Attributes: dtype. A UsageError for others."""
def atan(x: Any) -> Call:
    """relax.atan(x). Attributes: none. A UsageError for others."""
def atan2(x1: Any, x2: Any) -> Call:
    """relax.atan2(x1, x2). Attributes: none. A UsageError for others."""
def atanh(x: Any) -> Call:
    """relax.atanh(x). Attributes: none. A UsageError for others."""
def bitwise_and(x1: Any, x2: Any) -> Call:
    """relax.bitwise_and(x1, x2). Attributes: none. A UsageError for others."""
def bitwise_not(x: Any) -> Call:
    """relax.bitwise_not(x). Attributes: none. A UsageError for others."""
def bitwise_or(x1: Any, x2: Any) -> Call:
    """relax.bitwise_or(x1, x2). Attributes: none. A UsageError for others."""
def bitwise_xor(x1: Any, x2: Any) -> Call:
    """relax.bitwise_xor(x1, x2). Attributes: none. A UsageError for others."""
def broadcast_to(x: Any, shape: Any) -> Call:
    """relax.broadcast_to(x, shape). Attributes: none. A UsageError for others."""
def bucketize(input_tensor: Any, boundaries: Any, out_int32: Any = ..., right: Any = ...) -> Call:
    """relax.bucketize(input_tensor, boundaries). Attributes: out_int32, right. A UsageError for others."""
class builtin:
    """The operators builtin.*"""
    @staticmethod
    def alloc_tensor(shape: Any, dtype: Any, runtime_device_index: Any = ..., storage_scope: Any = ...) -> Call:
        """relax.builtin.alloc_tensor(shape, dtype, runtime_device_index?, storage_scope?). Attributes: none. A UsageError for others."""
    @staticmethod
    def stop_lift_params(x: Any) -> Call:
        """relax.builtin.stop_lift_params(x). Attributes: none. A UsageError for others."""
def byte_table(data: Any, table: Any) -> Call:
    """relax.byte_table(data, table). Attributes: none. A UsageError for others."""
def call_builtin_with_ctx(func: Any, args: Any) -> Call:
    """relax.call_builtin_with_ctx(func, args). Attributes: none. A UsageError for others."""
def call_inplace_packed(func: Any, *args: Any, inplace_indices: Any = ...) -> Call:
    """relax.call_inplace_packed(func, *). Attributes: inplace_indices. A UsageError for others."""
def call_pure_packed(func: Any, *args: Any) -> Call:
    """relax.call_pure_packed(func, *). Attributes: none. A UsageError for others."""
def call_tir_inplace(func: Any, args: Any, tir_vars: Any = ..., inplace_indices: Any = ...) -> Call:
    """relax.call_tir_inplace(func, args, tir_vars?). Attributes: inplace_indices. A UsageError for others."""
def ceil(x: Any) -> Call:
    """relax.ceil(x). Attributes: none. A UsageError for others."""
def clip(x: Any, min: Any, max: Any) -> Call:
    """relax.clip(x, min, max). Attributes: none. A UsageError for others."""
def collapse_sum_like(data: Any, collapse_target: Any) -> Call:
    """relax.collapse_sum_like(data, collapse_target). Attributes: none. A UsageError for others."""
def collapse_sum_to(data: Any, shape: Any) -> Call:
    """relax.collapse_sum_to(data, shape). Attributes: none. A UsageError for others."""
def common_bits(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.common_bits(x). Attributes: axis, keepdims. A UsageError for others."""
def concat(tensors: Any, axis: Any = ...) -> Call:
    """relax.concat(tensors). Attributes: axis. A UsageError for others."""
def cos(x: Any) -> Call:
    """relax.cos(x). Attributes: none. A UsageError for others."""
def cosh(x: Any) -> Call:
    """relax.cosh(x). Attributes: none. A UsageError for others."""
def cumprod(data: Any, axis: Any = ..., dtype: Any = ..., exclusive: Any = ...) -> Call:
    """relax.cumprod(data). Attributes: axis, dtype, exclusive. A UsageError for others."""
def cumsum(data: Any, axis: Any = ..., dtype: Any = ..., exclusive: Any = ...) -> Call:
    """relax.cumsum(data). Attributes: axis, dtype, exclusive. A UsageError for others."""
def dequantize(data: Any, scale: Any, zero_point: Any, axis: Any = ..., out_dtype: Any = ...) -> Call:
    """relax.dequantize(data, scale, zero_point). Attributes: axis, out_dtype. A UsageError for others."""
def divide(x1: Any, x2: Any) -> Call:
    """relax.divide(x1, x2). Attributes: none. A UsageError for others."""
def dynamic_permute_dims(x: Any, order: Any, shape: Any) -> Call:
    """relax.dynamic_permute_dims(x, order, shape). Attributes: none. A UsageError for others."""
def dynamic_strided_slice(x: Any, begin: Any, end: Any, strides: Any) -> Call:
    """relax.dynamic_strided_slice(x, begin, end, strides). Attributes: none. A UsageError for others."""
def dynamic_topk(data: Any, count: Any, k: Any = ..., axis: Any = ..., ret_type: Any = ..., largest: Any = ..., dtype: Any = ...) -> Call:
    """relax.dynamic_topk(data, count). Attributes: k, axis, ret_type, largest, dtype. A UsageError for others."""
def einsum(operands: Any, subscripts: Any = ...) -> Call:
    """relax.einsum(operands). Attributes: subscripts. A UsageError for others."""
def equal(x1: Any, x2: Any) -> Call:
    """relax.equal(x1, x2). Attributes: none. A UsageError for others."""
def erf(x: Any) -> Call:
    """relax.erf(x). Attributes: none. A UsageError for others."""
def ewise_fma(x1: Any, x2: Any, x3: Any) -> Call:
    """relax.ewise_fma(x1, x2, x3). Attributes: none. A UsageError for others."""
def exp(x: Any) -> Call:
    """relax.exp(x). Attributes: none. A UsageError for others."""
def expand_dims(x: Any, axis: Any = ...) -> Call:
    """relax.expand_dims(x). Attributes: axis. A UsageError for others."""
def eye(n: Any, m: Any, k: Any, dtype: Any = ...) -> Call:
    """relax.eye(n, m, k). Attributes: dtype. A UsageError for others."""
def eye_like(x: Any, k: Any, dtype: Any = ...) -> Call:
    """relax.eye_like(x, k). Attributes: dtype. A UsageError for others."""
def fake_quantize(data: Any, block: Any = ...) -> Call:
    """relax.fake_quantize(data). Attributes: block. A UsageError for others."""
def flatten(x: Any) -> Call:
    """relax.flatten(x). Attributes: none. A UsageError for others."""
def flip(data: Any, axis: Any = ...) -> Call:
    """relax.flip(data). Attributes: axis. A UsageError for others."""
def floor(x: Any) -> Call:
    """relax.floor(x). Attributes: none. A UsageError for others."""
def floor_divide(x1: Any, x2: Any) -> Call:
    """relax.floor_divide(x1, x2). Attributes: none. A UsageError for others."""
def floor_mod(x1: Any, x2: Any) -> Call:
    """relax.floor_mod(x1, x2). Attributes: none. A UsageError for others."""
def full(shape: Any, fill_value: Any, dtype: Any = ...) -> Call:
    """relax.full(shape, fill_value). Attributes: dtype. A UsageError for others."""
def full_like(x: Any, fill_value: Any, dtype: Any = ...) -> Call:
    """relax.full_like(x, fill_value). Attributes: dtype. A UsageError for others."""
def gather_elements(data: Any, indices: Any, axis: Any = ...) -> Call:
    """relax.gather_elements(data, indices). Attributes: axis. A UsageError for others."""
def gather_nd(data: Any, indices: Any, batch_dims: Any = ...) -> Call:
    """relax.gather_nd(data, indices). Attributes: batch_dims. A UsageError for others."""
def greater(x1: Any, x2: Any) -> Call:
    """relax.greater(x1, x2). Attributes: none. A UsageError for others."""
def greater_equal(x1: Any, x2: Any) -> Call:
    """relax.greater_equal(x1, x2). Attributes: none. A UsageError for others."""
def hamming_window(window_size: Any, periodic: Any, alpha: Any, beta: Any, dtype: Any = ...) -> Call:
    """relax.hamming_window(window_size, periodic, alpha, beta). Attributes: dtype. A UsageError for others."""
def hint_on_device(data: Any, device_type: Any = ..., device_index: Any = ..., memory_scope: Any = ...) -> Call:
    """relax.hint_on_device(data). Attributes: device_type, device_index, memory_scope. A UsageError for others."""
class image:
    """The operators image.*"""
    @staticmethod
    def affine_grid(data: Any, size: Any, align_corners: Any = ...) -> Call:
        """relax.image.affine_grid(data, size). Attributes: align_corners. A UsageError for others."""
    @staticmethod
    def deformed_columns(data: Any, offset: Any, mask: Any = ..., kernel: Any = ..., strides: Any = ..., padding: Any = ..., dilation: Any = ..., offset_groups: Any = ...) -> Call:
        """relax.image.deformed_columns(data, offset, mask?). Attributes: kernel, strides, padding, dilation, offset_groups. A UsageError for others."""
    @staticmethod
    def grid_sample(data: Any, grid: Any, method: Any = ..., layout: Any = ..., padding_mode: Any = ..., align_corners: Any = ...) -> Call:
        """relax.image.grid_sample(data, grid). Attributes: method, layout, padding_mode, align_corners. A UsageError for others."""
    @staticmethod
    def resample(data: Any, size: Any, axes: Any = ..., numerators: Any = ..., denominators: Any = ..., method: Any = ..., coordinate_transformation_mode: Any = ..., rounding_method: Any = ..., cubic_alpha: Any = ..., cubic_exclude: Any = ...) -> Call:
        """relax.image.resample(data, size). Attributes: axes, numerators, denominators, method, coordinate_transformation_mode, rounding_method, cubic_alpha, cubic_exclude. A UsageError for others."""
    @staticmethod
    def resize2d(data: Any, size: Any, roi: Any = ..., layout: Any = ..., method: Any = ..., coordinate_transformation_mode: Any = ..., rounding_method: Any = ..., cubic_alpha: Any = ..., cubic_exclude: Any = ..., extrapolation_value: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.image.resize2d(data, size). Attributes: roi, layout, method, coordinate_transformation_mode, rounding_method, cubic_alpha, cubic_exclude, extrapolation_value, out_dtype. A UsageError for others."""
    @staticmethod
    def resize3d(data: Any, size: Any, roi: Any = ..., layout: Any = ..., method: Any = ..., coordinate_transformation_mode: Any = ..., rounding_method: Any = ..., cubic_alpha: Any = ..., cubic_exclude: Any = ..., extrapolation_value: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.image.resize3d(data, size). Attributes: roi, layout, method, coordinate_transformation_mode, rounding_method, cubic_alpha, cubic_exclude, extrapolation_value, out_dtype. A UsageError for others."""
def index_put(data: Any, indices: Any, values: Any, accumulate: Any = ...) -> Call:
    """relax.index_put(data, indices, values). Attributes: accumulate. A UsageError for others."""
def index_tensor(data: Any, indices: Any) -> Call:
    """relax.index_tensor(data, indices). Attributes: none. A UsageError for others."""
class inspect:
    """The operators inspect.*"""
    @staticmethod
    def tensor_shape_i(tensor: Any, axis: Any) -> Call:
        """relax.inspect.tensor_shape_i(tensor, axis). Attributes: none. A UsageError for others."""
def invoke_closure(closure: Any, args: Any) -> Call:
    """relax.invoke_closure(closure, args). Attributes: none. A UsageError for others."""
def invoke_pure_closure(closure: Any, args: Any) -> Call:
    """relax.invoke_pure_closure(closure, args). Attributes: none. A UsageError for others."""
def isfinite(x: Any) -> Call:
    """relax.isfinite(x). Attributes: none. A UsageError for others."""
def isinf(x: Any) -> Call:
    """relax.isinf(x). Attributes: none. A UsageError for others."""
def isnan(x: Any) -> Call:
    """relax.isnan(x). Attributes: none. A UsageError for others."""
def layout_transform(x: Any, index_map: Any = ..., pad_value: Any = ...) -> Call:
    """relax.layout_transform(x). Attributes: index_map, pad_value. A UsageError for others."""
def left_shift(x1: Any, x2: Any) -> Call:
    """relax.left_shift(x1, x2). Attributes: none. A UsageError for others."""
def less(x1: Any, x2: Any) -> Call:
    """relax.less(x1, x2). Attributes: none. A UsageError for others."""
def less_equal(x1: Any, x2: Any) -> Call:
    """relax.less_equal(x1, x2). Attributes: none. A UsageError for others."""
def log(x: Any) -> Call:
    """relax.log(x). Attributes: none. A UsageError for others."""
def log_add_exp(x1: Any, x2: Any) -> Call:
    """relax.log_add_exp(x1, x2). Attributes: none. A UsageError for others."""
def logical_and(x1: Any, x2: Any) -> Call:
    """relax.logical_and(x1, x2). Attributes: none. A UsageError for others."""
def logical_not(x: Any) -> Call:
    """relax.logical_not(x). Attributes: none. A UsageError for others."""
def logical_or(x1: Any, x2: Any) -> Call:
    """relax.logical_or(x1, x2). Attributes: none. A UsageError for others."""
def logical_xor(x1: Any, x2: Any) -> Call:
    """relax.logical_xor(x1, x2). Attributes: none. A UsageError for others."""
def loop(body: Any, trips: Any, states: Any, condition: Any = ...) -> Call:
    """relax.loop(body, trips, states, condition?). Attributes: none. A UsageError for others."""
def make_closure(func: Any, args: Any) -> Call:
    """relax.make_closure(func, args). Attributes: none. A UsageError for others."""
def matmul(x1: Any, x2: Any, out_dtype: Any = ...) -> Call:
    """relax.matmul(x1, x2). Attributes: out_dtype. A UsageError for others."""
def matmul_pack(x1: Any, x2: Any, packing: Any = ...) -> Call:
    """relax.matmul_pack(x1, x2). Attributes: packing. A UsageError for others."""
def max(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.max(x). Attributes: axis, keepdims. A UsageError for others."""
def maximum(x1: Any, x2: Any) -> Call:
    """relax.maximum(x1, x2). Attributes: none. A UsageError for others."""
def mean(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.mean(x). Attributes: axis, keepdims. A UsageError for others."""
def median(data: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.median(data). Attributes: axis, keepdims. A UsageError for others."""
class memory:
    """The operators memory.*"""
    @staticmethod
    def alloc_storage(size: Any, virtual_device_index: Any = ..., storage_scope: Any = ..., dtype: Any = ...) -> Call:
        """relax.memory.alloc_storage(size, virtual_device_index?, storage_scope?, dtype?). Attributes: none. A UsageError for others."""
    @staticmethod
    def alloc_tensor(storage: Any, offset: Any, shape: Any, dtype: Any, runtime_device_index: Any = ...) -> Call:
        """relax.memory.alloc_tensor(storage, offset, shape, dtype, runtime_device_index?). Attributes: none. A UsageError for others."""
    @staticmethod
    def ensure_zero_offset(x: Any) -> Call:
        """relax.memory.ensure_zero_offset(x). Attributes: none. A UsageError for others."""
    @staticmethod
    def kill_storage(storage: Any) -> Call:
        """relax.memory.kill_storage(storage). Attributes: none. A UsageError for others."""
    @staticmethod
    def kill_tensor(tensor: Any) -> Call:
        """relax.memory.kill_tensor(tensor). Attributes: none. A UsageError for others."""
    @staticmethod
    def view(x: Any, shape: Any, dtype: Any, relative_byte_offset: Any) -> Call:
        """relax.memory.view(x, shape, dtype, relative_byte_offset). Attributes: none. A UsageError for others."""
def meshgrid(tensors: Any, indexing: Any = ...) -> Call:
    """relax.meshgrid(tensors). Attributes: indexing. A UsageError for others."""
def min(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.min(x). Attributes: axis, keepdims. A UsageError for others."""
def minimum(x1: Any, x2: Any) -> Call:
    """relax.minimum(x1, x2). Attributes: none. A UsageError for others."""
def mod(x1: Any, x2: Any) -> Call:
    """relax.mod(x1, x2). Attributes: none. A UsageError for others."""
def multinomial_from_uniform(prob: Any, uniform_sample: Any, sample_indices: Any, dtype: Any = ...) -> Call:
    """relax.multinomial_from_uniform(prob, uniform_sample, sample_indices). Attributes: dtype. A UsageError for others."""
def multiply(x1: Any, x2: Any) -> Call:
    """relax.multiply(x1, x2). Attributes: none. A UsageError for others."""
def negative(x: Any) -> Call:
    """relax.negative(x). Attributes: none. A UsageError for others."""
class nn:
    """The operators nn.*"""
    @staticmethod
    def adaptive_avg_pool1d(data: Any, output_size: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.adaptive_avg_pool1d(data). Attributes: output_size, layout, out_layout. A UsageError for others."""
    @staticmethod
    def adaptive_avg_pool2d(data: Any, output_size: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.adaptive_avg_pool2d(data). Attributes: output_size, layout, out_layout. A UsageError for others."""
    @staticmethod
    def adaptive_avg_pool3d(data: Any, output_size: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.adaptive_avg_pool3d(data). Attributes: output_size, layout, out_layout. A UsageError for others."""
    @staticmethod
    def attention(query: Any, key: Any, value: Any, scale: Any = ..., causal_mask: Any = ..., window_size: Any = ...) -> Call:
        """relax.nn.attention(query, key, value). Attributes: scale, causal_mask, window_size. A UsageError for others."""
    @staticmethod
    def attention_bias(query: Any, key: Any, value: Any, bias: Any, scale: Any = ..., causal_mask: Any = ..., window_size: Any = ...) -> Call:
        """relax.nn.attention_bias(query, key, value, bias). Attributes: scale, causal_mask, window_size. A UsageError for others."""
    @staticmethod
    def attention_var_len(query: Any, key: Any, value: Any, seqstart_q: Any, seqstart_k: Any, max_seqlen_q: Any, max_seqlen_k: Any, scale: Any = ..., causal_mask: Any = ..., window_size: Any = ...) -> Call:
        """relax.nn.attention_var_len(query, key, value, seqstart_q, seqstart_k, max_seqlen_q, max_seqlen_k). Attributes: scale, causal_mask, window_size. A UsageError for others."""
    @staticmethod
    def avg_pool1d(data: Any, pool_size: Any = ..., strides: Any = ..., padding: Any = ..., dilation: Any = ..., ceil_mode: Any = ..., count_include_pad: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.avg_pool1d(data). Attributes: pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout. A UsageError for others."""
    @staticmethod
    def avg_pool2d(data: Any, pool_size: Any = ..., strides: Any = ..., padding: Any = ..., dilation: Any = ..., ceil_mode: Any = ..., count_include_pad: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.avg_pool2d(data). Attributes: pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout. A UsageError for others."""
    @staticmethod
    def avg_pool3d(data: Any, pool_size: Any = ..., strides: Any = ..., padding: Any = ..., dilation: Any = ..., ceil_mode: Any = ..., count_include_pad: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.avg_pool3d(data). Attributes: pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout. A UsageError for others."""
    @staticmethod
    def batch_flatten(data: Any) -> Call:
        """relax.nn.batch_flatten(data). Attributes: none. A UsageError for others."""
    @staticmethod
    def batch_norm(data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any, axis: Any = ..., epsilon: Any = ..., center: Any = ..., scale: Any = ..., momentum: Any = ..., training: Any = ...) -> Call:
        """relax.nn.batch_norm(data, gamma, beta, moving_mean, moving_var). Attributes: axis, epsilon, center, scale, momentum, training. A UsageError for others."""
    @staticmethod
    def conv1d(data: Any, weight: Any, strides: Any = ..., padding: Any = ..., dilation: Any = ..., groups: Any = ..., data_layout: Any = ..., kernel_layout: Any = ..., out_layout: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.nn.conv1d(data, weight). Attributes: strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype. A UsageError for others."""
    @staticmethod
    def conv1d_transpose(data: Any, weight: Any, strides: Any = ..., padding: Any = ..., output_padding: Any = ..., dilation: Any = ..., groups: Any = ..., data_layout: Any = ..., kernel_layout: Any = ..., out_layout: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.nn.conv1d_transpose(data, weight). Attributes: strides, padding, output_padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype. A UsageError for others."""
    @staticmethod
    def conv2d(data: Any, weight: Any, strides: Any = ..., padding: Any = ..., dilation: Any = ..., groups: Any = ..., data_layout: Any = ..., kernel_layout: Any = ..., out_layout: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.nn.conv2d(data, weight). Attributes: strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype. A UsageError for others."""
    @staticmethod
    def conv2d_transpose(data: Any, weight: Any, strides: Any = ..., padding: Any = ..., output_padding: Any = ..., dilation: Any = ..., groups: Any = ..., data_layout: Any = ..., kernel_layout: Any = ..., out_layout: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.nn.conv2d_transpose(data, weight). Attributes: strides, padding, output_padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype. A UsageError for others."""
    @staticmethod
    def conv3d(data: Any, weight: Any, strides: Any = ..., padding: Any = ..., dilation: Any = ..., groups: Any = ..., data_layout: Any = ..., kernel_layout: Any = ..., out_layout: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.nn.conv3d(data, weight). Attributes: strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype. A UsageError for others."""
    @staticmethod
    def conv3d_transpose(data: Any, weight: Any, strides: Any = ..., padding: Any = ..., output_padding: Any = ..., dilation: Any = ..., groups: Any = ..., data_layout: Any = ..., kernel_layout: Any = ..., out_layout: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.nn.conv3d_transpose(data, weight). Attributes: strides, padding, output_padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype. A UsageError for others."""
    @staticmethod
    def conv_pack(data: Any, weight: Any, strides: Any = ..., padding: Any = ..., dilation: Any = ..., groups: Any = ..., data_layout: Any = ..., kernel_layout: Any = ..., out_layout: Any = ..., out_dtype: Any = ..., channels: Any = ..., packing: Any = ...) -> Call:
        """relax.nn.conv_pack(data, weight). Attributes: strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype, channels, packing. A UsageError for others."""
    @staticmethod
    def cross_entropy_with_logits(predictions: Any, labels: Any) -> Call:
        """relax.nn.cross_entropy_with_logits(predictions, labels). Attributes: none. A UsageError for others."""
    @staticmethod
    def dense(data: Any, weight: Any, out_dtype: Any = ...) -> Call:
        """relax.nn.dense(data, weight). Attributes: out_dtype. A UsageError for others."""
    @staticmethod
    def dense_pack(data: Any, weight: Any, columns: Any = ..., packing: Any = ..., out_dtype: Any = ...) -> Call:
        """relax.nn.dense_pack(data, weight). Attributes: columns, packing, out_dtype. A UsageError for others."""
    @staticmethod
    def dropout(data: Any, rate: Any = ...) -> Call:
        """relax.nn.dropout(data). Attributes: rate. A UsageError for others."""
    @staticmethod
    def gelu(data: Any) -> Call:
        """relax.nn.gelu(data). Attributes: none. A UsageError for others."""
    @staticmethod
    def gelu_tanh(data: Any) -> Call:
        """relax.nn.gelu_tanh(data). Attributes: none. A UsageError for others."""
    @staticmethod
    def group_norm(data: Any, gamma: Any, beta: Any, num_groups: Any = ..., channel_axis: Any = ..., axes: Any = ..., epsilon: Any = ..., center: Any = ..., scale: Any = ...) -> Call:
        """relax.nn.group_norm(data, gamma, beta). Attributes: num_groups, channel_axis, axes, epsilon, center, scale. A UsageError for others."""
    @staticmethod
    def instance_norm(data: Any, gamma: Any, beta: Any, channel_axis: Any = ..., axes: Any = ..., epsilon: Any = ..., center: Any = ..., scale: Any = ...) -> Call:
        """relax.nn.instance_norm(data, gamma, beta). Attributes: channel_axis, axes, epsilon, center, scale. A UsageError for others."""
    @staticmethod
    def layer_norm(data: Any, gamma: Any, beta: Any, axes: Any = ..., epsilon: Any = ..., center: Any = ..., scale: Any = ...) -> Call:
        """relax.nn.layer_norm(data, gamma, beta). Attributes: axes, epsilon, center, scale. A UsageError for others."""
    @staticmethod
    def leakyrelu(data: Any, alpha: Any = ...) -> Call:
        """relax.nn.leakyrelu(data). Attributes: alpha. A UsageError for others."""
    @staticmethod
    def log_softmax(data: Any, axis: Any = ...) -> Call:
        """relax.nn.log_softmax(data). Attributes: axis. A UsageError for others."""
    @staticmethod
    def max_pool1d(data: Any, pool_size: Any = ..., strides: Any = ..., padding: Any = ..., dilation: Any = ..., ceil_mode: Any = ..., count_include_pad: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.max_pool1d(data). Attributes: pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout. A UsageError for others."""
    @staticmethod
    def max_pool2d(data: Any, pool_size: Any = ..., strides: Any = ..., padding: Any = ..., dilation: Any = ..., ceil_mode: Any = ..., count_include_pad: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.max_pool2d(data). Attributes: pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout. A UsageError for others."""
    @staticmethod
    def max_pool3d(data: Any, pool_size: Any = ..., strides: Any = ..., padding: Any = ..., dilation: Any = ..., ceil_mode: Any = ..., count_include_pad: Any = ..., layout: Any = ..., out_layout: Any = ...) -> Call:
        """relax.nn.max_pool3d(data). Attributes: pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout. A UsageError for others."""
    @staticmethod
    def nll_loss(predictions: Any, targets: Any, weights: Any = ..., reduction: Any = ..., ignore_index: Any = ...) -> Call:
        """relax.nn.nll_loss(predictions, targets, weights?). Attributes: reduction, ignore_index. A UsageError for others."""
    @staticmethod
    def pad(data: Any, pad_width: Any = ..., pad_mode: Any = ..., pad_value: Any = ...) -> Call:
        """relax.nn.pad(data). Attributes: pad_width, pad_mode, pad_value. A UsageError for others."""
    @staticmethod
    def pixel_shuffle(data: Any, upscale_factor: Any = ...) -> Call:
        """relax.nn.pixel_shuffle(data). Attributes: upscale_factor. A UsageError for others."""
    @staticmethod
    def prelu(data: Any, alpha: Any, axis: Any = ...) -> Call:
        """relax.nn.prelu(data, alpha). Attributes: axis. A UsageError for others."""
    @staticmethod
    def relu(data: Any) -> Call:
        """relax.nn.relu(data). Attributes: none. A UsageError for others."""
    @staticmethod
    def rms_norm(data: Any, weight: Any, axes: Any = ..., epsilon: Any = ...) -> Call:
        """relax.nn.rms_norm(data, weight). Attributes: axes, epsilon. A UsageError for others."""
    @staticmethod
    def selu(data: Any) -> Call:
        """relax.nn.selu(data). Attributes: none. A UsageError for others."""
    @staticmethod
    def silu(data: Any) -> Call:
        """relax.nn.silu(data). Attributes: none. A UsageError for others."""
    @staticmethod
    def softmax(data: Any, axis: Any = ...) -> Call:
        """relax.nn.softmax(data). Attributes: axis. A UsageError for others."""
    @staticmethod
    def softplus(data: Any, beta: Any = ..., threshold: Any = ...) -> Call:
        """relax.nn.softplus(data). Attributes: beta, threshold. A UsageError for others."""
    @staticmethod
    def unfold_lines(data: Any, data_layout: Any = ..., taps: Any = ..., places: Any = ..., stride: Any = ..., dilation: Any = ...) -> Call:
        """relax.nn.unfold_lines(data). Attributes: data_layout, taps, places, stride, dilation. A UsageError for others."""
    @staticmethod
    def winograd_conv2d(data: Any, weights: Any, padding: Any = ..., dilation: Any = ..., channels: Any = ...) -> Call:
        """relax.nn.winograd_conv2d(data, weights). Attributes: padding, dilation, channels. A UsageError for others."""
    @staticmethod
    def winograd_conv3d(data: Any, weights: Any, padding: Any = ..., dilation: Any = ..., channels: Any = ...) -> Call:
        """relax.nn.winograd_conv3d(data, weights). Attributes: padding, dilation, channels. A UsageError for others."""
    @staticmethod
    def winograd_input(data: Any, padding: Any = ..., tiles: Any = ...) -> Call:
        """relax.nn.winograd_input(data). Attributes: padding, tiles. A UsageError for others."""
    @staticmethod
    def winograd_output(products: Any, size: Any = ..., tiles: Any = ...) -> Call:
        """relax.nn.winograd_output(products). Attributes: size, tiles. A UsageError for others."""
    @staticmethod
    def winograd_product(weights: Any, tiles: Any) -> Call:
        """relax.nn.winograd_product(weights, tiles). Attributes: none. A UsageError for others."""
def nonzero(x: Any) -> Call:
    """relax.nonzero(x). Attributes: none. A UsageError for others."""
def not_equal(x1: Any, x2: Any) -> Call:
    """relax.not_equal(x1, x2). Attributes: none. A UsageError for others."""
def null_value() -> Call:
    """relax.null_value(). Attributes: none. A UsageError for others."""
def one_hot(indices: Any, on_value: Any, off_value: Any, depth: Any = ..., axis: Any = ...) -> Call:
    """relax.one_hot(indices, on_value, off_value). Attributes: depth, axis. A UsageError for others."""
def ones(shape: Any, dtype: Any = ...) -> Call:
    """relax.ones(shape). Attributes: dtype. A UsageError for others."""
def ones_like(x: Any, dtype: Any = ...) -> Call:
    """relax.ones_like(x). Attributes: dtype. A UsageError for others."""
def outer(x1: Any, x2: Any) -> Call:
    """relax.outer(x1, x2). Attributes: none. A UsageError for others."""
def pack_bf16x2(data: Any, axis: Any = ...) -> Call:
    """relax.pack_bf16x2(data). Attributes: axis. A UsageError for others."""
def pack_f16x2(data: Any, axis: Any = ...) -> Call:
    """relax.pack_f16x2(data). Attributes: axis. A UsageError for others."""
def pack_i16x2(data: Any, zero_point: Any, axis: Any = ...) -> Call:
    """relax.pack_i16x2(data, zero_point). Attributes: axis. A UsageError for others."""
def pack_i8x4(data: Any, axis: Any = ...) -> Call:
    """relax.pack_i8x4(data). Attributes: axis. A UsageError for others."""
def pack_u8x4(data: Any, axis: Any = ...) -> Call:
    """relax.pack_u8x4(data). Attributes: axis. A UsageError for others."""
def permute_dims(x: Any, axes: Any = ...) -> Call:
    """relax.permute_dims(x). Attributes: axes. A UsageError for others."""
def power(x1: Any, x2: Any) -> Call:
    """relax.power(x1, x2). Attributes: none. A UsageError for others."""
def print(*args: Any) -> Call:
    """relax.print(*). Attributes: none. A UsageError for others."""
def prod(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.prod(x). Attributes: axis, keepdims. A UsageError for others."""
def quantize(data: Any, scale: Any, zero_point: Any, axis: Any = ..., out_dtype: Any = ...) -> Call:
    """relax.quantize(data, scale, zero_point). Attributes: axis, out_dtype. A UsageError for others."""
def repeat(data: Any, repeats: Any = ..., axis: Any = ...) -> Call:
    """relax.repeat(data). Attributes: repeats, axis. A UsageError for others."""
def reshape(x: Any, shape: Any) -> Call:
    """relax.reshape(x, shape). Attributes: none. A UsageError for others."""
def reverse_sequence(data: Any, seq_lengths: Any, seq_axis: Any = ..., batch_axis: Any = ...) -> Call:
    """relax.reverse_sequence(data, seq_lengths). Attributes: seq_axis, batch_axis. A UsageError for others."""
def right_shift(x1: Any, x2: Any) -> Call:
    """relax.right_shift(x1, x2). Attributes: none. A UsageError for others."""
def round(x: Any) -> Call:
    """relax.round(x). Attributes: none. A UsageError for others."""
def rsqrt(x: Any) -> Call:
    """relax.rsqrt(x). Attributes: none. A UsageError for others."""
def scatter_elements(data: Any, indices: Any, updates: Any, axis: Any = ..., reduction: Any = ...) -> Call:
    """relax.scatter_elements(data, indices, updates). Attributes: axis, reduction. A UsageError for others."""
def scatter_nd(data: Any, indices: Any, updates: Any, reduction: Any = ...) -> Call:
    """relax.scatter_nd(data, indices, updates). Attributes: reduction. A UsageError for others."""
def shape_of(x: Any) -> Call:
    """relax.shape_of(x). Attributes: none. A UsageError for others."""
def shape_to_tensor(shape: Any) -> Call:
    """relax.shape_to_tensor(shape). Attributes: none. A UsageError for others."""
def sigmoid(x: Any) -> Call:
    """relax.sigmoid(x). Attributes: none. A UsageError for others."""
def sign(x: Any) -> Call:
    """relax.sign(x). Attributes: none. A UsageError for others."""
def sin(x: Any) -> Call:
    """relax.sin(x). Attributes: none. A UsageError for others."""
def sinh(x: Any) -> Call:
    """relax.sinh(x). Attributes: none. A UsageError for others."""
def size(x: Any) -> Call:
    """relax.size(x). Attributes: none. A UsageError for others."""
def slice_scatter(input_tensor: Any, src: Any, start: Any, end: Any, step: Any, axis: Any = ...) -> Call:
    """relax.slice_scatter(input_tensor, src, start, end, step). Attributes: axis. A UsageError for others."""
def sort(data: Any, axis: Any = ..., descending: Any = ...) -> Call:
    """relax.sort(data). Attributes: axis, descending. A UsageError for others."""
def split(x: Any, indices_or_sections: Any = ..., axis: Any = ...) -> Call:
    """relax.split(x). Attributes: indices_or_sections, axis. A UsageError for others."""
def sqrt(x: Any) -> Call:
    """relax.sqrt(x). Attributes: none. A UsageError for others."""
def square(x: Any) -> Call:
    """relax.square(x). Attributes: none. A UsageError for others."""
def squeeze(x: Any, axis: Any = ...) -> Call:
    """relax.squeeze(x). Attributes: axis. A UsageError for others."""
def stack(tensors: Any, axis: Any = ...) -> Call:
    """relax.stack(tensors). Attributes: axis. A UsageError for others."""
def std(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.std(x). Attributes: axis, keepdims. A UsageError for others."""
def strided_slice(x: Any, axes: Any, begin: Any, end: Any, strides: Any = ..., assume_inbound: Any = ...) -> Call:
    """relax.strided_slice(x, axes, begin, end, strides?). Attributes: assume_inbound. A UsageError for others."""
def subtract(x1: Any, x2: Any) -> Call:
    """relax.subtract(x1, x2). Attributes: none. A UsageError for others."""
def sum(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.sum(x). Attributes: axis, keepdims. A UsageError for others."""
def take(x: Any, indices: Any, axis: Any = ..., mode: Any = ...) -> Call:
    """relax.take(x, indices). Attributes: axis, mode. A UsageError for others."""
def tan(x: Any) -> Call:
    """relax.tan(x). Attributes: none. A UsageError for others."""
def tanh(x: Any) -> Call:
    """relax.tanh(x). Attributes: none. A UsageError for others."""
def tensor_scatter(data: Any, updates: Any, starts: Any, length: Any, axis: Any = ..., circular: Any = ..., clears: Any = ...) -> Call:
    """relax.tensor_scatter(data, updates, starts, length). Attributes: axis, circular, clears. A UsageError for others."""
def tensor_to_shape(x: Any) -> Call:
    """relax.tensor_to_shape(x). Attributes: none. A UsageError for others."""
def tile(data: Any, repeats: Any = ...) -> Call:
    """relax.tile(data). Attributes: repeats. A UsageError for others."""
def topk(data: Any, k: Any = ..., axis: Any = ..., ret_type: Any = ..., largest: Any = ..., dtype: Any = ...) -> Call:
    """relax.topk(data). Attributes: k, axis, ret_type, largest, dtype. A UsageError for others."""
def tril(x: Any, k: Any = ...) -> Call:
    """relax.tril(x, k?). Attributes: none. A UsageError for others."""
def triu(x: Any, k: Any = ...) -> Call:
    """relax.triu(x, k?). Attributes: none. A UsageError for others."""
def trunc(x: Any) -> Call:
    """relax.trunc(x). Attributes: none. A UsageError for others."""
def unique(x: Any, sorted: Any, return_index: Any, return_inverse: Any, return_counts: Any, axis: Any = ...) -> Call:
    """relax.unique(x, sorted, return_index, return_inverse, return_counts, axis?). Attributes: none. A UsageError for others."""
def variance(x: Any, axis: Any = ..., keepdims: Any = ...) -> Call:
    """relax.variance(x). Attributes: axis, keepdims. A UsageError for others."""
class vision:
    """The operators vision.*"""
    @staticmethod
    def best_boxes(sides: Any, scores: Any, overlap: Any, least: Any, size: Any) -> Call:
        """relax.vision.best_boxes(sides, scores, overlap, least, size). Attributes: none. A UsageError for others."""
    @staticmethod
    def roi_align(data: Any, rois: Any, pooled_size: Any = ..., spatial_scale: Any = ..., sample_ratio: Any = ..., aligned: Any = ..., layout: Any = ..., mode: Any = ...) -> Call:
        """relax.vision.roi_align(data, rois). Attributes: pooled_size, spatial_scale, sample_ratio, aligned, layout, mode. A UsageError for others."""
    @staticmethod
    def roi_pool(data: Any, rois: Any, pooled_size: Any = ..., spatial_scale: Any = ..., layout: Any = ...) -> Call:
        """relax.vision.roi_pool(data, rois). Attributes: pooled_size, spatial_scale, layout. A UsageError for others."""
class vm:
    """The operators vm.*"""
    @staticmethod
    def alloc_storage(size: Any, runtime_device_index: Any = ..., dtype: Any = ..., storage_scope: Any = ...) -> Call:
        """relax.vm.alloc_storage(size, runtime_device_index?, dtype?, storage_scope?). Attributes: none. A UsageError for others."""
    @staticmethod
    def alloc_tensor(storage: Any, offset: Any, shape: Any, dtype: Any, runtime_device_index: Any = ...) -> Call:
        """relax.vm.alloc_tensor(storage, offset, shape, dtype, runtime_device_index?). Attributes: none. A UsageError for others."""
    @staticmethod
    def call_tir_dyn(func: Any, args: Any) -> Call:
        """relax.vm.call_tir_dyn(func, args). Attributes: none. A UsageError for others."""
    @staticmethod
    def kill_object(object: Any) -> Call:
        """relax.vm.kill_object(object). Attributes: none. A UsageError for others."""
def walk_trees(x: Any, nodes: Any, roots: Any, child_bits: Any = ..., ends: Any = ..., levels: Any = ...) -> Call:
    """relax.walk_trees(x, nodes, roots). Attributes: child_bits, ends, levels. A UsageError for others."""
def where(condition: Any, x1: Any, x2: Any) -> Call:
    """relax.where(condition, x1, x2). Attributes: none. A UsageError for others."""
def wrap_param(data: Any, dtype: Any = ...) -> Call:
    """relax.wrap_param(data). Attributes: dtype. A UsageError for others."""
def zeros(shape: Any, dtype: Any = ...) -> Call:
    """relax.zeros(shape). Attributes: dtype. A UsageError for others."""
def zeros_like(x: Any, dtype: Any = ...) -> Call:
    """relax.zeros_like(x). Attributes: dtype. A UsageError for others."""
