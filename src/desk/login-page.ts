// The only page that is served without a session. It has no script, and contains no data about the run.

const CSS = `:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 12vh auto; padding: 0 1rem; }
button { font: inherit; padding: 0.6rem 1.4rem; cursor: pointer; }
code { font-family: ui-monospace, monospace; }
`

/**
 * `link`: secret of the login link that the person has opened; undefined if there is none. Only the button on the page
 * uses up the link, because programs that show a preview of a link also open this page.
 */
export function loginPage(link: string | undefined): string {
  const main =
    link === undefined
      ? '<p>This desk needs a login. Run <code>sluice desk link</code> on its machine, and open the link that it prints.</p><p><a href="/">Open the desk</a> if this browser has a session.</p>'
      : `<form method="post" action="/login"><input type="hidden" name="link" value="${link}"><p><button autofocus>Log in to this desk</button></p></form><p>The link works once.</p>`
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sluice: login</title><link rel="icon" href="data:,"><style>${CSS}</style></head>
<body><main><h1>Sluice</h1>${main}</main></body>
</html>
`
}
