import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { tokenHash } from '../../../src/desk/access/scrapers.ts'
import type { View } from '../../../src/runtime/view/view.ts'
import { type Answer, type Asked, DeskRig } from '../../support/desk-rig.ts'
import { seriesIn } from '../../support/scraped.ts'
import { viewOf } from '../../support/view-sample.ts'

const TOKEN = 'f3b0c44298fc1c149afbf4c8996fb924'
const authorization = `Bearer ${TOKEN}`

let rig: DeskRig
beforeEach(async () => {
  rig = await DeskRig.start({ readOnly: true }, { scrapeHash: tokenHash(TOKEN) })
  rig.now = viewOf().time
  rig.desk.take({ kind: 'alive' })
  rig.desk.take({ kind: 'view', view: viewOf() })
})
afterEach(() => rig.close())

const scrape = (asked: Asked = {}): Promise<Answer> =>
  rig.ask({ path: '/metrics', ...asked, headers: { authorization, ...asked.headers } })

/**
 * Returns the values that an operator needs from a view, by the name of their metric. The function does not use the
 * catalogue of metrics to find a value in the view, because this test checks the catalogue.
 */
function expectedOf(view: View): Record<string, number> {
  const [bot, wallet, fills] = [view.bots[0], view.wallets[0], view.totals.fills[0]] as const
  if (!bot || !wallet || !fills || !view.process?.heartbeat) throw new Error('the view of this test lacks a part')
  const entries = view.totals.fillTimes.entry
  return {
    sluice_feed_lag_seconds: (view.feedLagMs ?? 0) / 1000,
    sluice_feed_gaps_total: view.gaps,
    sluice_feed_gap_seconds_total: view.gapSeconds,
    sluice_feed_losses_total: view.reconnects,
    'sluice_feed_state{state="live"}': view.feed === 'live' ? 1 : 0,
    'sluice_feed_state{state="stale"}': view.feed === 'stale' ? 1 : 0,
    sluice_rows_total: view.rows,
    sluice_rows_shed_total: view.process.shedRows,
    sluice_requests_held: view.requests.held,
    sluice_requests_allowed: view.requests.allowed,
    sluice_requests_plan: view.requests.perMinute,
    sluice_requests_waiting: view.requests.waiting,
    sluice_orders_total: view.orders,
    'sluice_orders_open{bot="dips",side="buy"}': view.openOrders.length,
    'sluice_orders_unknown{bot="dips"}': view.openOrders.filter(({ proof }) => proof).length,
    sluice_orders_unknown_age_seconds: 5,
    'sluice_orders_ended_total{bot="dips",code="SLIPPAGE_EXCEEDED",side="sell",state="not_executed"}': 2,
    'sluice_fills_total{bot="dips",side="buy"}': fills.count,
    'sluice_fees_sol_total{bot="dips",kind="priority",side="buy"}': fills.priorityFeesSol,
    'sluice_fees_sol_total{bot="dips",kind="tip",side="buy"}': fills.tipsSol,
    'sluice_failed_fees_sol_total{bot="dips"}': view.totals.failedFeesSol.dips as number,
    'sluice_fill_delay_seconds_bucket{kind="entry",le="0.5"}': 3,
    'sluice_fill_delay_seconds_bucket{kind="entry",le="1"}': 4,
    'sluice_fill_delay_seconds_bucket{kind="entry",le="+Inf"}': 6,
    'sluice_fill_delay_seconds_count{kind="entry"}': 6,
    'sluice_fill_delay_seconds_sum{kind="entry"}': entries.sumSeconds,
    'sluice_positions{bot="dips",mode="paper"}': view.positions.length,
    'sluice_positions_value_sol{bot="dips",mode="paper"}': view.positions[0]?.valueSol ?? 0,
    'sluice_positions_oldest_seconds{bot="dips",mode="paper"}': 90,
    'sluice_equity_sol{bots="dips",mode="paper"}': (wallet.solBalance ?? 0) + wallet.positionsSol,
    'sluice_profit_sol{bot="dips",mode="paper"}': bot.sinceBeginning.netSol,
    'sluice_profit_today_sol{bot="dips",mode="paper"}': bot.today.netSol,
    'sluice_win_ratio{bot="dips",mode="paper"}': (bot.winPercent ?? 0) / 100,
    'sluice_entries_stopped{bot="dips"}': bot.ownStops.length > 0 ? 1 : 0,
    'sluice_entry_stops{bot="dips",code="HALTED"}': bot.ownStops.includes('HALTED') ? 1 : 0,
    sluice_journal_bytes: view.journal.bytes,
    sluice_disk_free_bytes: view.journal.freeBytes,
    sluice_journal_waiting_seconds: view.journal.waitingMs / 1000,
    'sluice_rpc_failures_total{provider="1"}': 4,
    'sluice_alerts_total{kind="unknown"}': 2,
    sluice_alerts_lost_total: 1,
    sluice_heartbeat_accepted_time_seconds: (view.process.heartbeat.acceptedAt ?? 0) / 1000,
    sluice_heartbeat_failures_total: 6,
    'sluice_event_loop_delay_seconds{of="max"}': 0.087,
    process_resident_memory_bytes: view.process.residentBytes,
    process_start_time_seconds: view.process.startedAt / 1000,
  }
}

describe('a scrape', () => {
  test('the metrics have the values that /api/view has at the same moment, before and after a change', async () => {
    const cookie = await rig.login(true)
    const changed = { ...viewOf().bots[0], ownStops: ['HALTED'], trades: 13 } as View['bots'][number]
    for (const change of [
      undefined,
      { bots: { dips: changed }, set: { rows: 11, orders: 3, feed: 'stale', feedLagMs: 7_000 } },
    ]) {
      if (change !== undefined) rig.desk.take({ kind: 'change', change: { id: '1-2', from: '1-1', ...change } })
      // The desk applies a change a moment after it arrived.
      const view = await vi.waitFor(async () => {
        const shown = JSON.parse((await rig.ask({ path: '/api/view', headers: { cookie } })).body) as View
        expect(shown.id).toBe(change === undefined ? '1-1' : '1-2')
        return shown
      })
      const { status, headers, body } = await scrape()
      expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
      const series = seriesIn(body)
      const wanted = expectedOf(view)
      expect(Object.fromEntries(Object.keys(wanted).map((key) => [key, series.get(key)]))).toEqual(wanted)
    }
  })

  test('the metrics are still served while the main thread does not respond, and show for how long it has not', async () => {
    rig.now += 42_000
    expect(seriesIn((await scrape()).body).get('sluice_main_thread_silence_seconds')).toBe(42)
  })

  test('a scrape is refused until the process has sent its first state', async () => {
    const fresh = await DeskRig.start({}, { scrapeHash: tokenHash(TOKEN) })
    expect((await fresh.ask({ path: '/metrics', headers: { authorization } })).status).toBe(503)
    await fresh.close()
  })
})

describe('access', () => {
  test.each<[string, Asked['headers']]>([
    ['no token', { authorization: '' }],
    ['another token', { authorization: `Bearer ${TOKEN.replace('f3', 'f4')}` }],
    ['the token without its last character', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['the token and one more character', { authorization: `Bearer ${TOKEN}0` }],
    ['the hash of the token', { authorization: `Bearer ${tokenHash(TOKEN)}` }],
    ['the token as a password', { authorization: `Basic ${Buffer.from(`a:${TOKEN}`).toString('base64')}` }],
    ['the token without the scheme Bearer', { authorization: TOKEN }],
    ['two tokens', { authorization: `Bearer ${TOKEN}, Bearer ${TOKEN}` }],
  ])('a scrape with %s is refused, and the answer asks for a bearer token', async (_name, headers) => {
    const { status, body, headers: answered } = await scrape({ headers: headers ?? {} })
    expect([status, answered['www-authenticate']]).toEqual([401, 'Bearer'])
    expect(body).toBe('{"error":"send the token of metrics.token as a bearer token","code":"TOKEN_REQUIRED"}')
  })

  test('a token in the query of the URL is refused, and the log contains neither this token nor a wrong header', async () => {
    expect((await rig.ask({ path: `/metrics?token=${TOKEN}` })).status).toBe(401)
    expect((await scrape({ headers: { authorization: 'Bearer a-secret-of-someone' } })).status).toBe(401)
    expect(rig.logged.filter((line) => line.includes('TOKEN_REQUIRED'))).toHaveLength(2)
    expect(rig.logged.join('\n')).not.toMatch(/f3b0c4|a-secret/)
  })

  test('a session of the page gives no access to the metrics, and the metrics token gives access to no other path', async () => {
    const cookie = await rig.login()
    expect((await rig.ask({ path: '/metrics', headers: { cookie } })).status).toBe(401)
    for (const path of ['/api/view', '/events', '/api/sessions', '/metrics/', '/metrics/x', '//metrics'])
      expect((await scrape({ path })).status, path).toBeGreaterThanOrEqual(400)
  })

  test.each(['/%6detrics', '/metric%73', '/%6Detrics?x=1'])(
    'the path %s gives no access to the metrics, not even with a session',
    async (path) => {
      const cookie = await rig.login()
      for (const headers of [{}, { cookie }, { authorization }, { cookie, authorization }])
        expect((await rig.ask({ path, headers })).status).toBe(404)
    },
  )

  test.each(['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    'a %s request for the metrics is refused even with the token',
    async (method) => {
      expect((await scrape({ method, headers: { origin: rig.origin } })).status).toBe(405)
    },
  )

  test.each<[string, Asked['headers']]>([
    ['a scrape to another host name', { host: 'rebound.example' }],
    ['a scrape from a page of another site', { origin: 'https://evil.example' }],
    ['a scrape from a script of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a scrape from an unknown proxy', { 'x-forwarded-for': '1.2.3.4' }],
  ])('%s is refused even with the token', async (_name, headers) => {
    expect((await scrape({ headers: headers ?? {} })).status).toBe(403)
  })

  test('clients with wrong metrics tokens are limited in rate, and a client with the right token at the same address is not', async () => {
    const wrong = { headers: { authorization: 'Bearer wrong' } }
    for (let n = 0; n < 5; n++) expect((await scrape(wrong)).status).toBe(401)
    for (let n = 0; n < 50; n++) expect((await scrape(wrong)).status).toBe(429)
    expect((await scrape({ headers: { authorization: '' } })).status).toBe(429)
    expect((await scrape()).status).toBe(200)
    rig.now += 12_000
    expect((await scrape(wrong)).status).toBe(401)
  })

  test('scrapes of the metrics are limited to bursts of 20, and do not use the rate limit of clients without a session', async () => {
    const statuses = await Promise.all(Array.from({ length: 25 }, async () => (await scrape()).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
    expect((await rig.ask({ path: '/login' })).status).toBe(200)
    rig.now += 1_000
    expect((await scrape()).status).toBe(200)
  })

  test('without a token in the configuration, no metrics are served', async () => {
    const other = await DeskRig.start()
    other.desk.take({ kind: 'view', view: viewOf() })
    const cookie = await other.login()
    expect((await other.ask({ path: '/metrics', headers: { authorization } })).status).toBe(401)
    expect((await other.ask({ path: '/metrics', headers: { cookie } })).status).toBe(404)
    await other.close()
  })
})
