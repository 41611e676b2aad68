"""Every link of the built site leads to a file of it, and to an anchor of that file.

    python docs/site/check_links.py SITE_DIR
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.links, self.anchors = [], {"", "__skip"}
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {file: Page(file) for file in site.rglob("*.html") if file.name != "404.html"}
    problems = []
    for file, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            if not target.exists() or (target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors):
                problems.append(f"{file.relative_to(site)}: {link} leads nowhere")
    print("\n".join(problems) or f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, none broken")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
