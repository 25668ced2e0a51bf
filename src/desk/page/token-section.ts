import { type ComponentChild, h } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { View } from '../../runtime/view/view.ts'
import type { TokenAnswer } from '../api/types.ts'
import { type Mark, marksOf, markText, type OfferedWidth, offeredWidths } from './chart-data.ts'
import { colorsOf } from './colors.ts'
import { Choice, Empty, Foreign, Key, Pairs, Percent, Section, TokenLink, useAnswer, Waiting } from './elements.ts'
import { ageText, counted, priceText, printable, signedPercent, solText, timeText, tokenText } from './format.ts'
import { Exits } from './positions-section.ts'
import type { PriceChart } from './price-chart.ts'
import { addressOf } from './route.ts'
import { type Shown, saleOf } from './shown.ts'

const CHART_EVERY_MS = 5_000
const MARKS_LISTED = 100
/** Maximum number of bots that the button of a bar width names. The button lists the bots that declare this width. */
const BOTS_NAMED = 2
const SPAN = '3600'
const SPANS = [
  { value: '900', text: '15 min' },
  { value: '3600', text: '1 h' },
  { value: '21600', text: '6 h' },
  { value: '86400', text: '1 d' },
] as const

/**
 * Path of the request for a token's data. `span`: length of the range in seconds, which ends at the token's last print.
 */
export function tokenPath(mint: string, span = SPAN, bars = ''): string {
  const width = bars === '' ? '' : `&bars=${encodeURIComponent(bars)}`
  return `/api/token/${encodeURIComponent(mint)}?span=${span}${width}`
}

export function TokenPage({ shown, mint, theme }: { shown: Shown; mint: string; theme: string }): ComponentChild {
  return h(
    'div',
    { class: 'stack' },
    h(Chosen, { shown, mint }),
    mint === ''
      ? h(Empty, {}, 'Choose a token above, or enter its mint.')
      : h(OneToken, { key: mint, shown, mint, theme }),
  )
}

/** Tokens with a position, an open order or a recent fill, and a field for any other mint. */
function Chosen({ shown: { view }, mint }: { shown: Shown; mint: string }): ComponentChild {
  const tokens = knownTokens(view)
  const open = (event: Event): void => {
    event.preventDefault()
    const field = new FormData(event.currentTarget as HTMLFormElement).get('mint')
    location.hash = addressOf('token', String(field ?? '').trim())
  }
  return h(
    Section,
    { title: 'Tokens' },
    h(
      'form',
      { class: 'line', onSubmit: open },
      h(
        'label',
        {},
        'Mint ',
        // The input has no `value`. Otherwise, each new view would reset the text while the user types.
        h('input', {
          ...{ key: mint, name: 'mint', id: 'mint', defaultValue: mint },
          ...{ size: 46, spellcheck: false, autocomplete: 'off' },
        }),
      ),
      h('button', { type: 'submit' }, 'Show'),
    ),
    h(
      'ul',
      { class: 'tokens', 'aria-label': 'Tokens of the bots' },
      [...tokens].map(([key, symbol]) =>
        h('li', { key, class: key === mint ? 'chosen' : '' }, h(TokenLink, { mint: key, symbol })),
      ),
    ),
  )
}

function knownTokens({ positions, openOrders, lastFills }: View): Map<string, string> {
  return new Map([
    ...lastFills.map(({ mint }): [string, string] => [mint, '']),
    ...openOrders.map(({ mint, symbol }): [string, string] => [mint, symbol]),
    ...positions.map(({ mint, symbol }): [string, string] => [mint, symbol]),
  ])
}

function OneToken({ shown, mint, theme }: { shown: Shown; mint: string; theme: string }): ComponentChild {
  const [bars, setBars] = useState('')
  const [span, setSpan] = useState<string>(SPAN)
  const widths = useMemo(() => offeredWidths(shown.view.bots), [shown.view.bots.length])
  const isLive = shown.view.source === 'running'
  const asked = useAnswer<TokenAnswer>(tokenPath(mint, span, bars), isLive ? CHART_EVERY_MS : 0)
  const [last, setLast] = useState<TokenAnswer | undefined>(undefined)
  useEffect(() => {
    if (asked.answer !== undefined) setLast(asked.answer)
  }, [asked.answer])
  const token = asked.answer ?? last
  const symbol = token?.symbol ?? ''
  return h(
    'div',
    { class: 'stack' },
    h(
      Section,
      {
        title: `Token ${tokenText(symbol, mint)}`,
        about: h('button', { type: 'button', onClick: () => shown.explain(mint) }, 'Why is this token held, or not?'),
      },
      h(
        'div',
        { class: 'line' },
        h(Foreign, { text: token?.name ?? '' }),
        h(Key, { text: mint }),
        h(Choice<string>, { label: 'Time shown', options: SPANS, value: span, choose: setSpan }),
        h(Choice<string>, {
          label: 'Price or bars',
          options: [{ value: '', text: 'price' }, ...widths.map(widthOption)],
          value: bars,
          choose: setBars,
        }),
      ),
      token === undefined || asked.error !== '' ? h(Waiting, { asked }) : null,
      token === undefined
        ? null
        : h(Chart, { key: `${bars} ${theme} ${span}`, token, bars: token.bars === null ? '' : bars, shown }),
      h(Legend, {}),
    ),
    h(Held, { shown, mint }),
    h(BuyForm, { shown, mint }),
    token === undefined ? null : h(Marks, { token, shown }),
  )
}

/** A width of bars, with the bots that declare it. */
function widthOption({ width, bots }: OfferedWidth): { value: string; text: string } {
  const whose = bots.length > BOTS_NAMED ? counted(bots.length, 'bot') : bots.map(printable).join(', ')
  return { value: width, text: whose === '' ? width : `${width} (${whose})` }
}

function Chart({ token, bars, shown }: { token: TokenAnswer; bars: string; shown: Shown }): ComponentChild {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<PriceChart | null>(null)
  const latest = useRef(token)
  const drawn = useRef<TokenAnswer | null>(null)
  const open = useRef((_mark: Mark): void => {})
  latest.current = token
  open.current = (mark) => shown.explain(mark.subject)
  // This is a layout effect, so that the chart is drawn before the next frame if its module is loaded.
  useLayoutEffect(() => {
    let isGone = false
    void import('./price-chart.ts').then(({ PriceChart }) => {
      const element = place.current
      if (isGone || element === null) return
      chart.current = new PriceChart(element, latest.current, bars, colorsOf(element), (mark) => open.current(mark))
      drawn.current = latest.current
      element.dataset.drawn = 'yes'
    })
    return () => {
      isGone = true
      chart.current?.remove()
      chart.current = null
    }
  }, [bars])
  useEffect(() => {
    if (drawn.current !== token) chart.current?.show(token)
    drawn.current = chart.current === null ? null : token
  }, [token])
  return h('div', { class: 'chart price', ref: place, role: 'img', 'aria-label': summary(token, shown.now) })
}

/** Description of the chart for users who cannot see it. The list below the chart has every fill and refusal. */
function summary({ price: [times, prices], prints, fills, refusals }: TokenAnswer, now: number): string {
  const first = prices[0]
  const last = prices.at(-1)
  if (first === undefined || last === undefined) return 'Chart without a price'
  const change = signedPercent((last / first - 1) * 100)
  return `Chart of the robust price from ${timeText(times[0]!, now)} to ${timeText(times.at(-1)!, now)}: ${priceText(last)} SOL, ${change}; ${prints.t.length} prints, ${fills.length} fills, ${refusals.length} refusals`
}

function Legend(): ComponentChild {
  const item = (sign: string, kind: string, text: string): ComponentChild =>
    h('li', {}, h('span', { class: kind, 'aria-hidden': true }, sign), ` ${text}`)
  return h(
    'ul',
    { class: 'legend' },
    item('─', 'accent', 'robust price'),
    item('·', 'print', 'every print'),
    item('▲', 'gain', 'bought'),
    item('▼', 'loss', 'sold'),
    item('✕', 'warn', 'refused'),
    item('○', 'quiet', 'note'),
    item('┄', 'quiet', 'price of an exit'),
    item('▒', 'quiet', 'feed interrupted'),
  )
}

function Held({ shown, mint }: { shown: Shown; mint: string }): ComponentChild {
  const held = shown.view.positions.filter((position) => position.mint === mint)
  if (held.length === 0) return null
  return h(
    Section,
    { title: 'Held now' },
    held.map((position) =>
      h(
        'div',
        { key: position.id, class: 'line' },
        h(Pairs, {
          pairs: [
            ['Bot', position.bot],
            ['Cost', `${solText(position.costSol)} SOL`],
            ['If sold now', position.valueSol === null ? 'no price' : `${solText(position.valueSol)} SOL`],
            ['Change', h(Percent, { value: position.changePercent })],
            ['Age', ageText(shown.now - position.openedAt)],
          ],
        }),
        h(
          'button',
          {
            ...{ type: 'button', class: 'act', disabled: !shown.canAct },
            'aria-label': `Sell ${tokenText(position.symbol, mint)} of ${position.bot}`,
            onClick: () => shown.act(saleOf(position)),
          },
          'Sell',
        ),
        h(Exits, { position, now: shown.now }),
      ),
    ),
  )
}

function BuyForm({ shown, mint }: { shown: Shown; mint: string }): ComponentChild {
  if (shown.view.source !== 'running') return null
  const buy = (event: Event): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget as HTMLFormElement)
    shown.act({ action: 'buy', mint, bot: String(fields.get('bot') ?? ''), sol: Number(fields.get('sol')) })
  }
  return h(
    Section,
    { title: 'Buy', about: 'under the limits of the bot, which manages the position from then on' },
    h(
      'form',
      { class: 'line', onSubmit: buy },
      h(
        'label',
        {},
        'Bot ',
        h(
          'select',
          { name: 'bot' },
          shown.view.bots.map(({ name }) => h('option', { key: name, value: name }, name)),
        ),
      ),
      h(
        'label',
        {},
        'SOL ',
        h('input', {
          name: 'sol',
          type: 'number',
          inputMode: 'decimal',
          min: '0.000001',
          step: 'any',
          required: true,
          size: 8,
        }),
      ),
      h('button', { type: 'submit', class: 'act', disabled: !shown.canAct }, 'Buy'),
    ),
  )
}

/** Lists the events that the chart marks (fills, refused orders, notes of strategies), newest first, for users without
 *  a pointing device. */
function Marks({ token, shown }: { token: TokenAnswer; shown: Shown }): ComponentChild {
  const marks = marksOf(token).reverse()
  const about = marks.length > MARKS_LISTED ? `the last ${MARKS_LISTED} of ${marks.length}` : ''
  return h(
    Section,
    { title: 'Fills, refusals and notes', about },
    marks.length === 0
      ? h(Empty, {}, 'No bot acted on this token in the time shown.')
      : h(
          'ol',
          { class: 'marks' },
          marks
            .slice(0, MARKS_LISTED)
            .map((mark) =>
              h(
                'li',
                { key: mark.id },
                h(
                  'span',
                  { class: `mark ${mark.kind}`, 'aria-hidden': true },
                  { buy: '▲', sell: '▼', refusal: '✕', note: '○' }[mark.kind],
                ),
                h(
                  'button',
                  { type: 'button', class: 'link', onClick: () => shown.explain(mark.subject) },
                  h(Foreign, { text: markText(mark, shown.now) }),
                ),
              ),
            ),
        ),
  )
}
