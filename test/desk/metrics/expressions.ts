import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** The alert rules, in the form of docs/monitoring/alerts.yml. */
export interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
}

/**
 * Returns all expressions of the alert rules and of the dashboard, with values in place of the dashboard's variables.
 */
export function expressionsOf(folder: string): { readonly from: 'alerts' | 'dashboard'; readonly text: string }[] {
  const { groups } = parse(readFileSync(join(folder, 'alerts.yml'), 'utf8')) as Rules
  const { panels } = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')) as Dashboard
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  return [
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => ({ from: 'alerts' as const, text: expr }))),
    ...shown.map((expr) => ({
      from: 'dashboard' as const,
      text: expr.replaceAll('$__rate_interval', '30s').replaceAll('$instance', '.*'),
    })),
  ]
}
