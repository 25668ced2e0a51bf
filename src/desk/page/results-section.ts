import { type ComponentChild, h } from 'preact'
import type { CompareAnswer, ResultRun, ResultsAnswer } from '../api/types.ts'
import { Amount, Empty, Foreign, Section, useAnswer, Waiting } from './elements.ts'
import { countText, NONE, printable, timeText } from './format.ts'
import { addressOf } from './route.ts'
import type { Shown } from './shown.ts'
import { Table } from './table.ts'

export function Results({ shown, run }: { shown: Shown; run: string }): ComponentChild {
  const asked = useAnswer<ResultsAnswer>('/api/results')
  const runs = asked.answer?.runs ?? []
  const chosen = runs.find(({ name }) => name === run)
  return h(
    'div',
    { class: 'stack' },
    h(
      Section,
      { title: 'Backtests and sweeps', about: 'net results in SOL' },
      h(Waiting, { asked }),
      asked.answer === undefined
        ? null
        : runs.length === 0
          ? h(Empty, {}, 'There are no results: `sluice backtest` and `sluice sweep` write them with --out.')
          : h(Table<ResultRun>, {
              label: 'Backtests and sweeps',
              rows: runs,
              keyOf: ({ name }) => name,
              columns: [
                {
                  head: 'Name',
                  sort: ({ name }) => name,
                  cell: ({ name }) => h('a', { href: addressOf('results', name) }, printable(name)),
                },
                { head: 'Kind', sort: ({ kind }) => kind, cell: ({ kind }) => kind },
                { head: 'Time', sort: ({ time }) => time, cell: ({ time }) => timeText(time, shown.now) },
                {
                  head: 'Net SOL',
                  isNumber: true,
                  sort: ({ netSol }) => netSol ?? 0,
                  cell: ({ netSol }) => h(Amount, { sol: netSol }),
                },
                {
                  head: 'Report',
                  cell: ({ page, name }) =>
                    page === null
                      ? NONE
                      : h(
                          'a',
                          {
                            href: page,
                            target: '_blank',
                            rel: 'noopener',
                            'aria-label': `Report of ${printable(name)} in a new page`,
                          },
                          'new page',
                        ),
                },
              ],
            }),
    ),
    chosen === undefined ? null : h(OneRun, { key: run, run: chosen, shown }),
  )
}

function OneRun({ run: { name, page, kind }, shown }: { run: ResultRun; shown: Shown }): ComponentChild {
  return h(
    'div',
    { class: 'stack' },
    kind === 'backtest' && shown.view.source !== 'results' ? h(BesideBacktest, { run: name, shown }) : null,
    page === null
      ? null
      : h(
          Section,
          { title: `Report of ${printable(name)}` },
          h('iframe', { src: page, sandbox: '', title: `Report of ${printable(name)}`, class: 'report' }),
        ),
  )
}

function BesideBacktest({ run, shown }: { run: string; shown: Shown }): ComponentChild {
  const asked = useAnswer<CompareAnswer>(`/api/compare?run=${encodeURIComponent(run)}`)
  const { answer } = asked
  return h(
    Section,
    { title: 'This journal and the backtest' },
    h(Waiting, { asked }),
    answer === undefined
      ? null
      : [
          answer.notes.map((note) => h('p', { key: note }, h(Foreign, { text: note }))),
          answer.differences.length === 0
            ? null
            : h(Sides, {
                key: 'differences',
                label: 'Different conditions',
                rows: answer.differences.map(({ what, a, b }) => [what, a ?? NONE, b ?? NONE] as const),
              }),
          answer.bots.map(({ bot, results }) =>
            h(Sides, {
              key: bot,
              label: `Results of ${printable(bot)}`,
              rows: results.map(({ what, a, b }) => [what, numberText(a), numberText(b)] as const),
            }),
          ),
          h(Decisions, { key: 'decisions', decisions: answer.decisions, shown }),
        ],
  )
}

function Decisions({ decisions, shown }: { decisions: CompareAnswer['decisions']; shown: Shown }): ComponentChild {
  if (decisions === null) return null
  const { equal, a, b } = decisions
  if (a === null && b === null) return h('p', {}, `All ${countText(equal)} decisions are equal.`)
  const text = (one: typeof a): string =>
    one === null ? 'no decision' : `${timeText(one.time, shown.now)} ${one.kind} ${one.bot} ${one.code} ${one.reason}`
  return h(
    'div',
    {},
    h('p', {}, `${countText(equal)} decisions are equal. The first that differs:`),
    h(Sides, { label: 'First decision that differs', rows: [['decision', text(a), text(b)]] }),
  )
}

function Sides({
  label,
  rows,
}: {
  label: string
  rows: readonly (readonly [what: string, a: string, b: string])[]
}): ComponentChild {
  return h(Table<(typeof rows)[number]>, {
    label,
    rows,
    keyOf: ([what]) => what,
    columns: [
      { head: label, cell: ([what]) => printable(what) },
      { head: 'This journal', isNumber: true, cell: ([, a]) => h(Foreign, { text: a }) },
      { head: 'Backtest', isNumber: true, cell: ([, , b]) => h(Foreign, { text: b }) },
    ],
  })
}

function numberText(value: number | null): string {
  if (value === null) return NONE
  return Number.isInteger(value) ? String(value) : value.toFixed(4)
}
