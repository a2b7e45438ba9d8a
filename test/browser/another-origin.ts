import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { createApp } from '../../src/http/app.ts'
import { createStreamRegistry } from '../../src/http/sse/stream-registry.ts'
import { eventually, inBrowser } from '../fixtures/browser.ts'
import { attack, attackByWorkers, attackerSite, type Goals } from '../fixtures/browser-attacker.ts'
import { isFull } from '../fixtures/full.ts'
import { filesBelow, isOnItsWay, pathsBelow } from '../fixtures/paths-below.ts'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

/** Names that lead here, as after a change of their address by whoever owns them. */
const NAMES = ['localhost', 'evil.example']
const SECRET = 'What no page of others may read'

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** A service with something on each of its routes, and what is asked of it. */
async function target(t: Test) {
  const app = await openTestService(t, { dev: true, trust: true })
  const ref = await planned(app, { runbook: step('echo ran >> ran'), fields: { title: SECRET } })
  const of = `/cases/${ref.case_id}`
  await must(app, 'PUT', `${of}/memory/notes.md`, SECRET)
  const proof = await must(app, 'POST', `${of}/proof`, { type: 'log', content: SECRET })
  const url = 'http://127.0.0.1:2/'
  const mine = await must(app, 'POST', `${of}/webhooks`, { url, events: ['case_deleted'] })
  const all = await must(app, 'POST', '/webhooks', { url, events: ['case_deleted'] })
  const ids: Record<string, string> = {
    ':webhook_id': mine.id,
    ':sid': ref.id,
    ':pid': proof.id,
    ':filename': 'notes.md',
    ':did': '1',
  }
  const port = Number(new URL(app.url).port)
  const { routes } = createApp(app.service, { port: () => port, streams: createStreamRegistry() })
  const found = routes
    .filter(({ path }) => path !== '/*')
    .map(({ method, path }) => {
      const id = path.startsWith('/webhooks')
        ? all.id
        : path.startsWith('/providers')
          ? 'runbook'
          : ref.case_id
      const filled = path.replace(/:[a-z_]+/g, (name) => ids[name] ?? (name === ':id' ? id : 'x'))
      return { method, path: filled, body: bodyOf(method, path) }
    })
  const isRead = (method: string) => ['GET', 'ALL'].includes(method)
  return {
    app,
    port,
    ref,
    reads: [
      '/',
      `/case/${ref.case_id}`,
      ...found.filter(({ method }) => isRead(method)).map(({ path }) => path),
    ],
    writes: found.filter(({ method }) => !isRead(method)),
    embeds: [
      '/',
      '/cases',
      '/new',
      '/events',
      '/assets/console.js',
      '/assets/console.css',
      '/assets/favicon.svg',
      `/case/${ref.case_id}`,
      `${of}/memory/notes.md`,
      `${of}/proof/${proof.id}/content`,
    ],
  }
}

/** One that the route takes. */
function bodyOf(method: string, path: string): string {
  const bodies: [RegExp, object][] = [
    [/\/state$/, { state: 'WONT_FIX' }],
    [/\/plan$/, { plan: 'pwned' }],
    [/\/revise$/, { note: 'pwned' }],
    [/\/proof$/, { type: 'log', content: 'pwned' }],
    [/\/checklist$/, { description: 'pwned', type: 'log' }],
    [/\/sessions$/, { type: 'planning' }],
    [/\/webhooks$/, { url: 'http://127.0.0.1:2/' }],
    [/\/(?:webhook_)?id$/, {}],
    [/\/(?:test|redeliver|verify|approve|abandon)$/, {}],
    [/\/run$/, { mode: 'plan' }],
  ]
  if (method === 'PATCH') return '{"active":false}'
  return JSON.stringify(bodies.find(([fits]) => fits.test(path))?.[1] ?? { title: 'pwned' })
}

/** All that reaches the service from now on, whatever becomes of it. */
function watched(t: Test, port: number): Exchange[] {
  const seen: Exchange[] = []
  const note = (message: unknown) => {
    const { request, response, server } = message as Exchange & { server: Server }
    if ((server.address() as AddressInfo | null)?.port === port) seen.push({ request, response })
  }
  subscribe('http.server.request.start', note)
  t.teardown(() => unsubscribe('http.server.request.start', note))
  return seen
}

/** Every file of the workspace and its bytes, but for those that are derived, and what was told so far. */
async function stateOf(app: TestService): Promise<Record<string, string>> {
  const state: Record<string, string> = { events: String(app.service.eventLog.last) }
  const isCounted = (path: string) =>
    !/^(?:index|latest)\.md$/.test(basename(path)) && !isOnItsWay(basename(path))
  for (const path of pathsBelow(app.root)) if (isCounted(path)) state[path] = 'there'
  for (const { path, bytes } of filesBelow(app.root))
    if (isCounted(path)) state[path] = createHash('sha256').update(bytes).digest('hex')
  for (const path of ['/webhooks', '/cases', '/triage'])
    state[path] = (await app.request('GET', path)).text
  return state
}

const byOf = ({ url = '' }: IncomingMessage) => /[?&]by=([a-z-]+)/.exec(url)?.[1]

/** Waits for what is sent without an answer to its page, then says what came of everything. */
async function judged(t: Test, seen: Exchange[], wanted: string[]): Promise<void> {
  const came = () => new Set(seen.map(({ request }) => byOf(request)))
  await eventually(
    () => wanted.filter((by) => !came().has(by)),
    (missing) => missing.length === 0,
  )
  const all = await eventually(
    () => seen.filter(({ request }) => byOf(request)),
    (exchanges) => exchanges.every(({ response }) => response.headersSent || response.destroyed),
  )
  t.comment(`${all.length} requests, by ${[...came()].join(' ')}`)
  const statuses = all.map(({ request, response }) => {
    return response.headersSent && response.statusCode !== 403
      ? `${request.method} ${request.url}: ${response.statusCode}`
      : 403
  })
  t.strictSame([...new Set(statuses)], [403], 'whatever came was refused')
}

/** What a page does reaches the service by these; others the browser stops itself. */
const REACHING = [
  'no-cors',
  'no-body',
  'fetch-text',
  'fetch-json',
  'keepalive',
  'beacon',
  'xhr',
  'form',
  'form-data',
  'form-text',
  'ping',
  'fetch',
  'fetch-opaque',
  'head',
  'events',
  'socket',
  'img',
  'script',
  'module',
  'style',
  'object',
  'embed',
  'iframe',
]

const open = async (page: Page, url: string) => {
  await page.goto(url)
  return page
}

inBrowser(
  'a page of another origin changes nothing, and reads nothing',
  async (t, visitor) => {
    visitor.expect(/^(?:console|request|error)/)
    const { app, port, ref, ...goals } = await target(t)
    const before = await stateOf(app)
    const seen = watched(t, port)
    const site = await attackerSite(t)
    const page = await visitor.open(`http://localhost:${site}/`)
    const from = (host: string) => open(page, `http://${host}:${site}/`)
    const to = (host: string): Goals => ({ base: `http://${host}:${port}`, ...goals })
    /** One of each kind, as all has been tried from one place. */
    const some = (all: Goals): Goals => {
      const kinds =
        /^\/$|^\/(?:cases|events)$|^\/cases\/[^/]+$|\/(?:approve|state|notes\.md|stream)$/
      const { base, reads, writes, embeds } = all
      return isFull
        ? all
        : {
            base,
            reads: reads.filter((path) => kinds.test(path)),
            writes: writes.filter(({ path }) => kinds.test(path)),
            embeds: embeds.filter((path) => kinds.test(path) || path.endsWith('.svg')),
          }
    }

    for (const [name, own, wanted] of [
      ['another port', '127.0.0.1', to('127.0.0.1')],
      ['another name of this machine', 'localhost', some(to('127.0.0.1'))],
    ] as const) {
      await t.test(`from ${name}`, async (t) => {
        seen.length = 0
        await from(own)
        t.strictSame(await page.evaluate(attack, wanted), [], 'the page got nothing')
        await judged(t, seen, REACHING)
      })
    }

    await t.test('from nowhere: a frame without an origin', async (t) => {
      seen.length = 0
      await from('127.0.0.1')
      await page.setContent('<iframe sandbox="allow-scripts allow-forms" srcdoc="<body>"></iframe>')
      const frame = await eventually(() => page.frames()[1])
      await frame!.waitForURL('about:srcdoc')
      t.equal(await frame!.evaluate(() => origin), 'null')
      t.strictSame(
        await frame!.evaluate(attack, {
          ...some(to('127.0.0.1')),
          reads: ['/cases'],
          embeds: ['/'],
        }),
        [],
      )
      await judged(t, seen, ['no-cors', 'form', 'beacon', 'fetch', 'events'])
      t.ok(seen.some(({ request }) => request.headers.origin === 'null'))
    })

    await t.test('by workers', async (t) => {
      seen.length = 0
      await from('127.0.0.1')
      t.strictSame(await page.evaluate(attackByWorkers, some(to('127.0.0.1'))), [])
      await judged(t, seen, ['worker', 'service-worker'])
    })

    await t.test('by opening addresses', async (t) => {
      seen.length = 0
      await from('127.0.0.1')
      const paths = [`${ref.path}/approve`, `/case/${ref.case_id}`, '/cases']
      for (const path of paths) {
        const opened = page.context().waitForEvent('page')
        await page.evaluate(
          (url) => void window.open(url),
          `http://127.0.0.1:${port}${path}?by=open`,
        )
        const other = await opened
        await other.waitForLoadState()
        t.notMatch(await other.content(), SECRET, 'it shows nothing of it')
        await other.close()
        await page.evaluate((url) => {
          location.href = url
        }, `http://127.0.0.1:${port}${path}?by=place`)
        await page.waitForURL(/by=place/)
        t.notMatch(await page.content(), SECRET)
        await from('127.0.0.1')
      }
      await judged(t, seen, ['open', 'place'])
    })

    await t.test('under a name that leads here: it reads refusals, and nothing else', async (t) => {
      seen.length = 0
      await open(page, `http://evil.example:${port}/?by=name`)
      t.equal(await page.evaluate(() => origin), `http://evil.example:${port}`)
      const got = await page.evaluate(attack, some(to('evil.example')))
      const refusal =
        /: (?:403 (?:\{"type":"urn:casefile:forbidden".*\n)?|\{"type":"urn:casefile:forbidden".*\n)$/
      t.ok(got.length > 50, `${got.length} answers could be read`)
      t.strictSame(
        got.filter((each) => !refusal.test(each)),
        [],
        'and were refusals',
      )
      await judged(t, seen, ['fetch-json', 'no-cors', 'form', 'beacon', 'iframe', 'socket'])
      t.strictSame(
        [...new Set(seen.map(({ request }) => request.headers.host))],
        [`evil.example:${port}`],
        'each came under that name',
      )
    })

    t.strictSame(await stateOf(app), before, 'nothing was changed')

    await t.test('the same from a page of its own is carried out', async (t) => {
      await open(page, app.url)
      const opened = await page.evaluate(() => {
        return new Promise<boolean>((resolve) => {
          const source = new EventSource('/events')
          source.onopen = () => resolve(source.readyState === EventSource.OPEN)
          source.onerror = () => resolve(false)
        })
      })
      t.ok(opened, 'events')
      const wanted = goals.writes.filter(({ path }) => path === '/cases')
      const got = await page.evaluate(attack, {
        ...to('127.0.0.1'),
        writes: wanted,
        reads: ['/cases'],
        // a stream that is loaded never ends
        embeds: goals.embeds.filter((path) => path !== '/events'),
      })
      const by = got.map((each) => each.split(' ')[0])
      for (const each of ['fetch-json', 'fetch', 'img', 'script', 'style'])
        t.ok(by.includes(each), each)
      t.ok(Number((await stateOf(app)).events) > Number(before.events))
    })
  },
  NAMES,
)
