import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { failCommits } from '../fixtures/state-rows.ts'
import { openTestService, type Reply, type TestService } from '../fixtures/workspace.ts'

// Lists are queries of the rows in casefile.db, and of those that wait to be written there.

/** What these cases need, else their state, in the order of docs/console.md. */
const RANKS = [
  ['plan', 'question'],
  ['problem', 'failed'],
  ['proof', 'gate_open'],
  ['blocked'],
  ['running'],
  ['VERIFYING'],
  ['IMPLEMENTING'],
  ['PLANNING'],
  ['OPEN'],
  ['RESOLVED'],
]
const STATES = ['OPEN', 'BLOCKED', 'RESOLVED', 'PLANNING', 'NEEDS_USER_INPUT', 'VERIFYING']
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

interface Fields {
  state?: string
  created?: number
  tags?: string
}

/** The times are in groups, so that the order by id counts too. */
function caseMd(n: number, fields: Fields = {}): string {
  const { state = STATES[n % STATES.length], created = n, tags = `t${n % 3}, t${n % 4}` } = fields
  return `---
title: Case ${n}
state: ${state}
type: ${n % 2 ? 'bug' : 'chore'}
outcome: ${n % 5 ? '' : 'CodeFixed'}
tags: [${tags}]
created_at: 2026-01-${String((created % 9) + 10)}T10:00:00.000Z
---
Number ${n} in words${n % 7 ? '' : ', Straße'}.
`
}

function write(app: TestService, n: number, fields?: Fields): void {
  mkdirSync(app.file(idOf(n)), { recursive: true })
  writeFileSync(app.file(idOf(n), 'case.md'), caseMd(n, fields))
}

/** The whole of a list by its pages, and how often it says how many there are. */
async function paged(app: TestService, path: string) {
  const found: { id: string }[] = []
  const totals = new Set<string | undefined>()
  for (let next: string | undefined = path; next !== undefined; ) {
    const reply: Reply = await app.request('GET', next)
    totals.add(reply.headers['x-total-count'])
    found.push(...reply.json)
    next = /^<([^>]+)>; rel="next"$/.exec(reply.headers.link ?? '')?.[1]
  }
  return { found, totals: [...totals] }
}

const numberOf = ({ id }: { id: string }) => Number(id.slice(-4))
const FILTERS: [query: string, fits: (each: Reply['json']) => boolean][] = [
  ['', () => true],
  ['state=OPEN', ({ state }) => state === 'OPEN'],
  ['state=BLOCKED,RESOLVED', ({ state }) => ['BLOCKED', 'RESOLVED'].includes(state)],
  ['type=bug', ({ type }) => type === 'bug'],
  ['outcome=CodeFixed', ({ outcome }) => outcome === 'CodeFixed'],
  ['tag=t2,new', ({ tags }) => tags.includes('t2') || tags.includes('new')],
  ['tag=t1&type=bug', ({ tags, type }) => tags.includes('t1') && type === 'bug'],
  ['q=STRA%C3%9FE', (each) => numberOf(each) % 7 === 0],
  ['q=%22number+15%22&type=bug', (each) => numberOf(each) === 15 && each.type === 'bug'],
]

/** All lists have the same cases, in the order that docs/api.md says. */
async function listsAgree(t: Test, app: TestService, what: string) {
  const cases: Reply['json'][] = (await app.request('GET', '/cases')).json
  const triage: Reply['json'][] = (await app.request('GET', '/triage')).json
  const byId = (a: Reply['json'], b: Reply['json']) => (a.id < b.id ? -1 : 1)
  const newest = [...cases].sort((a, b) => b.created_at.localeCompare(a.created_at) || byId(a, b))
  const urgency = ({ needs, state }: Reply['json']) =>
    RANKS.findIndex((rank) => rank.includes(needs?.kind ?? state))
  const time = (row: Reply['json']): string => row.since ?? row.updated_at
  const urgent = [...triage].sort(
    (a, b) => urgency(a) - urgency(b) || time(b).localeCompare(time(a)) || byId(a, b),
  )
  t.strictSame(ids(cases), ids(newest), `${what}: the newest first`)
  t.strictSame(ids(triage), ids(urgent), `${what}: the most urgent first`)
  t.strictSame(ids([...cases].sort(byId)), ids([...triage].sort(byId)), `${what}: the same cases`)
  for (const [query, fits] of FILTERS) {
    for (const [path, all] of [
      ['/cases', cases],
      ['/triage', triage],
    ] as const) {
      const wanted = all.filter(fits)
      const { found, totals } = await paged(app, `${path}?${query}&limit=7`.replace('?&', '?'))
      t.strictSame(found, wanted, `${what}: ${path}?${query} in pages`)
      t.strictSame(totals, [String(wanted.length)], `${what}: ${path}?${query} is counted`)
      const whole = await app.request('GET', query === '' ? path : `${path}?${query}`)
      t.strictSame(whole.json, wanted, `${what}: ${path}?${query}`)
    }
  }
  const blocked = triage.filter(({ needs }) => needs?.kind === 'blocked')
  t.strictSame((await paged(app, '/triage?needs=blocked&limit=7')).found, blocked, what)
  await pageAgrees(t, app, triage, what)
  return cases
}

/** The page of cases has the order of `GET /triage`. */
async function pageAgrees(t: Test, app: TestService, triage: Reply['json'][], what: string) {
  const html = (await app.request('GET', '/?type=bug', undefined, { accept: 'text/html' })).text
  const bugs = triage.filter(({ type }) => type === 'bug')
  t.match(html, `${bugs.length} of ${triage.length} cases`, `${what}: the page`)
  const shown = [...html.matchAll(/<li class="case-row" id="case-([^"]*)"/g)].map(([, id]) => id)
  t.strictSame(shown, ids(bugs), `${what}: its order`)
}

const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id)

t.test('lists are true while the database cannot be written', inLongLane, async (t) => {
  const cases = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [idOf(n), { 'case.md': caseMd(n) }]),
  )
  const app = await openTestService(t, { files: { memory: { cases } } })
  await app.service.watched()
  t.equal((await listsAgree(t, app, 'as they are')).length, 60)

  const undo = failCommits(app.stateDir)
  for (const n of [3, 4, 5]) rmSync(app.file(idOf(n)), { recursive: true })
  for (const n of [10, 11, 12]) write(app, n, { state: 'RESOLVED', tags: 'new', created: n + 3 })
  for (const n of [60, 61, 75]) write(app, n)
  const hasGone = async () => {
    const there = ids((await app.request('GET', '/cases')).json)
    return ![3, 4, 5].some((n) => there.includes(idOf(n)))
  }
  while (!(await hasGone()));
  await listsAgree(t, app, 'not written')
  await new Promise((resolve) => setTimeout(resolve, 1200))
  t.ok(app.service.database.failure, 'nothing can be written')
  const unwritten = await listsAgree(t, app, 'still not written')
  undo()
  while (app.service.database.failure) await app.service.database.flushed().catch(() => {})
  t.strictSame(await listsAgree(t, app, 'written'), unwritten)
  await app.restart()
  t.strictSame(await listsAgree(t, app, 'after a restart'), unwritten)
})
