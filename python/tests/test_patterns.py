import pytest

import deuteron
from deuteron import ir
from deuteron.relax.backend.pattern_registry import fuse_registered, get_patterns_with_prefix, register_patterns, remove_patterns
from deuteron.relax.dpl import is_const, is_op, is_var, rewrite_call, wildcard
from deuteron.relax.transform import FuseOpsByPattern
from deuteron.script import I, R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.add(x, y)
            b = R.exp(a)
            c = R.multiply(b, b)
            R.output(c)
        return c


def value(index):
    return Module["main"].body.blocks[0].bindings[index].value


@pytest.mark.parametrize(
    "pattern, index, matches",
    [
        (is_op("relax.exp")(is_op("relax.add")(wildcard(), wildcard())), 1, True),
        (is_op("relax.exp")(is_op("relax.multiply")(wildcard(), wildcard())), 1, False),
        (is_var("x") + is_var("y"), 0, True),
        (is_var("y") + is_var("x"), 0, True),  # addition commutes
        (is_var("x") + is_const(), 0, False),
        ((is_op("relax.exp") | is_op("relax.log"))(wildcard()), 1, True),
        (is_op("relax.exp")(~is_const()), 1, True),
        (is_op("relax.exp")(~is_var("a")), 1, False),
        (is_op("relax.exp")(wildcard()).has_dtype("float32").has_shape([2, 3]), 1, True),
        (is_op("relax.exp")(wildcard()).has_shape([3, 2]), 1, False),
    ],
)
def test_match(pattern, index, matches):
    assert pattern.match(value(index), Module["main"]) == matches


def test_what_parts_matched():
    part = is_op("relax.add")(wildcard(), wildcard())
    whole = is_op("relax.exp")(part)
    found = whole.extract_matched_expr(value(1), Module["main"])
    assert ir.structural_equal(found[part], value(0), map_free_vars=True)
    assert whole.extract_matched_expr(value(0), Module["main"]) is None


def test_one_pattern_twice_is_one_value():
    same = wildcard()
    assert is_op("relax.multiply")(same, same).match(value(2), Module["main"])
    assert not is_op("relax.add")(same, same).match(value(0), Module["main"])


def test_rewrite():
    inner = wildcard()
    function = rewrite_call(is_op("relax.exp")(inner), lambda call, matches: matches[inner], Module["main"])
    [var] = [each for each in Module.functions if each.name_hint == "main"]
    expected = deuteron.script.parse(Module.script().replace("R.exp(a)", "a"))
    ir.assert_structural_equal(Module.with_function(var, function), expected)


def test_a_check_that_raises():
    class Mine(Exception):
        pass

    def check(context):
        raise Mine(ir.text(context.matched_expr))

    with pytest.raises(Mine, match=r"R.exp\(a\)"):
        FuseOpsByPattern([("library.exp", is_op("relax.exp")(wildcard()), {}, check)])(Module)


def test_registered_patterns_keep_their_checks():
    seen = []

    def check(context):
        seen.append(ir.text(context.matched_expr))
        return not context.has_leaking_intermediate_variables()

    register_patterns([("checked.exp", is_op("relax.exp")(wildcard()), {}, check)])
    try:
        [pattern] = get_patterns_with_prefix("checked")
        assert pattern.check is not None and pattern.attrs_getter is None
        ir.assert_structural_equal(FuseOpsByPattern([pattern])(Module), fuse_registered("checked")(Module))
        assert seen == ["R.exp(a)"] * 2
    finally:
        remove_patterns(["checked.exp"])
    # The library's own as well.
    assert all(pattern.check is not None for pattern in get_patterns_with_prefix("dnnl.conv2d"))
