/// \file
/// The page that shows a report in a browser. `ViewerPage` holds the placeholders /*DATA*/ and /*SCRIPT*/.
#pragma once

namespace deuteron::report {

const char* ViewerPage();
/// Layout of the graph: layers by longest path, order by barycentres, positions by isotonic regression; folded into
/// columns.
const char* ViewerLayoutScript();
/// Drawing, moving, searching, and the panel.
const char* ViewerScript();

}  // namespace deuteron::report
