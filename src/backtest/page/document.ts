import { Html, html } from './html.ts'
import { STYLE } from './style.ts'

/** A page as one file: no script, and nothing that is fetched. A browser holds it to that. */
export function document(title: string, body: Html): string {
  return html`${new Html('<!doctype html>')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body><main>
<h1>${title}</h1>
${body}
</main></body>
</html>
`.text
}
