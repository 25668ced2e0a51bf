import { printable } from '../../base/text.ts'

/** HTML that is inserted without escaping. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Part = Html | string | number | readonly Part[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}

/** A template tag that escapes every value that is not Html. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, at) => text + (at < parts.length ? textOf(parts[at] as Part) : '')).join(''))
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'string') return escapeHtml(part)
  return typeof part === 'number' ? String(part) : part.map(textOf).join('')
}

/** A script that a page contains. `source`: the expression that allows the script in the content security policy. */
export interface PageScript {
  readonly text: string
  readonly source: string
}

/** A page in one file, without external resources. Its content security policy forbids external resources, and every
 *  script except `script`. */
export function document(title: string, body: Html, script?: PageScript): string {
  return html`${new Html('<!doctype html>')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'${script === undefined ? '' : new Html(`; script-src ${script.source}`)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body><main>
<h1>${title}</h1>
${body}
</main>${script === undefined ? '' : new Html(`<script>${script.text}</script>`)}</body>
</html>
`.text
}

/** The style sheet, with a light and a dark palette; the reader's system chooses between them. */
const STYLE = new Html(`
:root { color-scheme: light dark; --ground: #fbfaf8; --card: #ffffff; --ink: #1d2026; --quiet: #5f6672; --rule: #e2e0da; --accent: #2459b3; --gain: #12703c; --loss: #b3261e; --wash: #b3261e1f; }
@media (prefers-color-scheme: dark) { :root { --ground: #14161a; --card: #1c1f25; --ink: #e7e8ea; --quiet: #9aa1ac; --rule: #31353d; --accent: #7fabf5; --gain: #5ecb8b; --loss: #ff8a80; --wash: #ff8a8026; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 28px 20px 80px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 21px; margin: 44px 0 10px; padding-top: 18px; border-top: 1px solid var(--rule); overflow-wrap: anywhere; } h3 { font-size: 15px; margin: 26px 0 8px; }
p { margin: 6px 0; max-width: 80ch; } .quiet { color: var(--quiet); } .warn { border-left: 3px solid var(--loss); padding-left: 12px; }
.gain { color: var(--gain); } .loss { color: var(--loss); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; margin: 12px 0; }
.tile { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 10px 14px; } .tile b { display: block; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; } .tile > span { color: var(--quiet); font-size: 13px; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 4px 36px; align-items: start; } .columns > * { min-width: 0; }
.groups table { table-layout: fixed; min-width: 680px; } .groups th:first-child { width: 30%; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; } thead th { color: var(--quiet); font-weight: 500; white-space: nowrap; } tbody th { font-weight: 400; color: var(--quiet); } .number { text-align: right; white-space: nowrap; } td:last-child, th:last-child { padding-right: 0; } td.text { overflow-wrap: anywhere; min-width: 7em; }
svg { display: block; width: 100%; height: auto; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; margin: 6px 0; }
.grid { stroke: var(--rule); } .tick { fill: var(--quiet); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; } .line { fill: none; stroke: var(--accent); stroke-width: 1.6; stroke-linejoin: round; } .line.fall { stroke: var(--loss); } .area { fill: var(--wash); } .buy { fill: var(--gain); stroke: var(--card); } .sell { fill: var(--loss); stroke: var(--card); }
details { margin: 8px 0; } summary { cursor: pointer; padding: 4px 0; overflow-wrap: anywhere; } td code { white-space: nowrap; } code { font: 13px ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; } ul { padding-left: 20px; max-width: 90ch; } li { margin: 3px 0; overflow-wrap: anywhere; }
.chart svg { touch-action: pan-y; cursor: crosshair; } .bought { fill: var(--gain); opacity: .55; } .sold { fill: var(--loss); opacity: .55; } .zoomed { fill: var(--accent); opacity: .18; }
.tools { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-top: 8px; } .tools button { font: 13px system-ui, sans-serif; min-width: 34px; padding: 4px 9px; color: var(--ink); background: var(--card); border: 1px solid var(--rule); border-radius: 6px; cursor: pointer; } .tools button[aria-pressed="true"] { background: var(--accent); color: var(--ground); } .tools span { color: var(--quiet); font-size: 13px; font-variant-numeric: tabular-nums; }
.heat rect.gain { fill: var(--gain); } .heat rect.loss { fill: var(--loss); } .heat rect.none { fill: none; stroke: var(--rule); } .heat { padding: 8px; } .cell { fill: var(--ink); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
@media print { .tools { display: none; } .card, svg { break-inside: avoid; } }
`)
