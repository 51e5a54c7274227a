/** What hostile texts try. Each would call `pwned()`, or ask another host for something. */
export const HOSTILE = [
  '<script>pwned()</script>',
  '<img src=x onerror=pwned()>',
  '<svg onload=pwned()>',
  '<svg><script>pwned()</script></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=pwned()></style></mglyph></table></mtext></math>',
  '<iframe srcdoc="<script>pwned()</script>"></iframe>',
  '<details open ontoggle=pwned()>',
  '<a href="javascript:pwned()">x</a>',
  '[x](javascript:pwned())',
  '[x](JaVaScRiPt:pwned())',
  '[x](java\tscript:pwned())',
  '[x](&#106;avascript:pwned())',
  '[x](&#x6A;avascript&colon;pwned())',
  '[x](<java\u0001script:pwned()>)',
  '[x](vbscript:pwned())',
  '[x](data:text/html,<script>pwned()</script>)',
  '[x](data:text/html;base64,PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+)',
  '[x](//evil.example)',
  '[x](\\\\evil.example)',
  '[x](blob:https://evil.example/1)',
  '![x](javascript:pwned())',
  '![x](data:image/svg+xml,<svg onload=pwned()>)',
  '![x" onerror="pwned()](https://x.example/a.png)',
  '![x" onerror="pwned()](/a.png)',
  '![x](/a.png" onerror="pwned())',
  '![x](/a.png "t\\" onerror=\\"pwned()")',
  '[x](https://x.example "t\\" onmouseover=\\"pwned()")',
  '[x](https://x.example/"onmouseover="pwned())',
  '<https://x.example/"onmouseover="pwned()>',
  '<javascript:pwned()>',
  '[a]: javascript:pwned()\n\n[a]',
  '`<img src=x onerror=pwned()>`',
  '```html\n<img src=x onerror=pwned()>\n```',
  '```"><img src=x onerror=pwned()>\ncode\n```',
  '```<script>pwned()</script>\ncode\n```',
  '| <img src=x onerror=pwned()> |\n| --- |\n| <svg onload=pwned()> |',
  '- [x] <img src=x onerror=pwned()>',
  '# <img src=x onerror=pwned()>',
  '<div data-slot="0"></div>\n\n```\n<script>pwned()</script>\n```',
  '$\\href{javascript:pwned()}{x}$',
  '$$\\htmlData{onclick=pwned()}{x}$$',
  '$<img src=x onerror=pwned()>$',
  '\\(\\includegraphics{javascript:pwned()}\\)',
  'https://x.example/<img/src=x/onerror=pwned()>',
  '&lt;script&gt;pwned()&lt;/script&gt;',
]

const fence = (text: string) => `\`\`\`mermaid\n${text}\n\`\`\``

/** Diagrams are drawn in a real browser only. */
export const HOSTILE_DIAGRAMS = [
  fence(
    'flowchart LR\n  A["<img src=x onerror=pwned()>"] --> B\n  click A "javascript:pwned()"\n  click B href "javascript:pwned()" _self',
  ),
  fence('flowchart LR\n  A --> B\n  click A call pwned()\n  click B pwned'),
  fence(
    '%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}}}%%\nflowchart LR\n  A["<iframe srcdoc=<script>parent.pwned()</script>>"] --> B["<svg onload=pwned()>"]',
  ),
  fence(
    '%%{init: {"themeCSS": "* { background: url(https://evil.example/a) } @import url(https://evil.example/b);"}}%%\nflowchart LR\n  A --> B',
  ),
  fence('%%{init: {"fontFamily": "x; } body { background: url(https://evil.example/c)"}}%%\nflowchart LR\n  A --> B'),
  fence(
    'flowchart LR\n  A@{ img: "https://evil.example/d.png", label: "x" } --> B\n  style B fill:url(https://evil.example/e)',
  ),
  fence(
    'sequenceDiagram\n  participant Alice\n  link Alice: Site @ javascript:pwned()\n  Alice->>Alice: <img src=x onerror=pwned()>',
  ),
  fence(
    'classDiagram\n  class A["<script>pwned()</script>"]\n  link A "javascript:pwned()" "tip"\n  callback A "pwned" "tip"',
  ),
  fence('---\ntitle: <img src=x onerror=pwned()>\nconfig:\n  securityLevel: loose\n---\nflowchart LR\n  A --> B'),
]
