import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { CATALOGUE } from '../../src/desk/metrics/catalogue.ts'
import type { Metric } from '../../src/desk/metrics/metric.ts'

interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly action: string }
}

const file = (name: string): string =>
  readFileSync(new URL(`../../docs/monitoring/${name}`, import.meta.url), 'utf8').trimEnd()

/** The page about metrics: how to set Prometheus up, and the tables of all alert rules and metrics. */
export function monitoringPage(): string {
  const tables = Object.entries(CATALOGUE).flatMap(([section, metrics]) => tableOf(section, metrics))
  return `${[INTRODUCTION(), ALERTS(), METRICS, ...tables].join('\n')}\n`
}

const INTRODUCTION = (): string => `# Monitoring with Prometheus

The desk answers \`GET /metrics\` with ${Object.values(CATALOGUE).flat().length} metrics in the text format of Prometheus. They show the same
state as \`sluice status\` and [the desk](desk.md). The desk's thread writes the answer, so a request of Prometheus (a
scrape) never delays a trade. \`npm run docs\` generates this page from the catalogue in
\`src/desk/metrics/catalogue.ts\`.

## Set up

Make a token (a random text). Sluice and Prometheus each need a file that contains the token, and that no other user can
read:

\`\`\`sh
openssl rand -hex 32 > metrics-token && chmod 600 metrics-token
sudo install -o prometheus -m 0400 metrics-token /etc/prometheus/sluice-token
\`\`\`

In the YAML, name the file that contains the token. Also name the desk's port, so that the port does not change:

\`\`\`yaml check
service: sandbox
metrics: { token: file:metrics-token }
desk: { port: 7420 }
bots: [{ name: first, strategy: my-strategy }]
\`\`\`

Copy the files of [monitoring/](monitoring/) to \`/etc/prometheus\`, and restart Prometheus. Its \`prometheus.yml\`:

\`\`\`yaml
${file('prometheus.yml')}
\`\`\`

To look at the figures without Prometheus:

\`\`\`sh
curl -H "Authorization: Bearer $(cat metrics-token)" http://127.0.0.1:7420/metrics
\`\`\`

## Access

- Without the section \`metrics\` there are no metrics, and the library that writes them is not loaded. With
  \`--no-desk\` there are no metrics either, and the start logs a warning.
- The token is needed on loopback too, because every program of the machine can connect there. It opens only
  \`/metrics\`, and only for GET. A session of the desk does not open \`/metrics\`, and \`desk.readOnly\` changes nothing.
- A request with a wrong token is refused (401, \`TOKEN_REQUIRED\`; after five wrong tokens in a minute 429, \`TOO_MANY\`)
  and logged. Wrong tokens never prevent scrapes with the right token. With the right token, two scrapes a second are
  answered in the long run, and up to 20 in a burst.
- The desk's rules for names, addresses, TLS and proxies apply to \`/metrics\` too
  ([desk.md](desk.md#from-another-machine)). For Prometheus on another machine, use \`ssh -L\`, or \`desk.origin\` with
  TLS.
- The token has 32 characters or more. The desk's thread knows only its hash. To replace the token, change the file and
  restart.
- No label contains a mint, a signature, an address or the number of an order.
`

/** The alert rules as a table, and how messages are sent. */
const ALERTS = (): string => {
  const { groups } = parse(file('alerts.yml')) as Rules
  const rows = groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, for: held = '', labels, annotations }) => {
      const cells = [alert, labels.severity, `\`${expr.replaceAll('|', '\\|')}\``, held, annotations.action]
      return `| ${cells.join(' | ')} |`
    }),
  )
  return `## Alerts

[alerts.yml](monitoring/alerts.yml) has ${rows.length} rules. Prometheus evaluates them; an Alertmanager sends the
messages. Thresholds of money, time and memory that depend on your bots are marked with "adjust" in the file.
\`npm run monitoring\` tests each rule with promtool, and evaluates the rules and the dashboard on a Prometheus that
scrapes running bots.

| alert | severity | condition | for | what to do |
|---|---|---|---|---|
${rows.join('\n')}

## Dashboard

[dashboard.json](monitoring/dashboard.json) is a dashboard for Grafana: import it, and choose the data source. It shows
money, orders, feed and machine of one process or of several.
`
}

const METRICS = `## Metrics

Counters begin at zero with each start of the process. A metric without a value at present has no series. Each value
comes from \`/api/view\` and \`sluice status --json\`; the last column names the key. The values under the key \`process\`
are measured every five seconds.
`

function tableOf(section: string, metrics: readonly Metric[]): string[] {
  const rows = metrics.map(({ name, type, labels, unit, help, from }) => {
    const cells = [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), unit, help, keyText(from)]
    return `| ${cells.join(' | ')} |`
  })
  return [
    `### ${section}\n`,
    '| metric | type | labels | unit | meaning | value |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ]
}

/** The source of a metric's value as Markdown: a key of the view as code, any other source as text. */
function keyText(from: string): string {
  return from.includes(' ') ? from : `\`${from}\``
}
