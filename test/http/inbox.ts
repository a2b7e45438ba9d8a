import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { InboxJson } from '../../src/http/schemas/inbox.ts'
import { openServer } from '../../src/serve.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { connect } from '../fixtures/event-source.ts'
import { step } from '../fixtures/session-client.ts'

const RUNBOOK = step('echo fine', 'sh run id=say proof=log')

interface Served {
  url: string
  root: string
  stateDir: string
  close(): Promise<void>
}

/** Workspaces whose state folders are beside each other. */
function workspaces(t: Test) {
  t.teardown(() => {}) // the folder stays until the services have ended
  const dir = t.testdir({ state: {} })
  async function serve(name: string): Promise<Served> {
    const places = { root: join(dir, name), stateDir: join(dir, 'state', name) }
    mkdirSync(places.root, { recursive: true })
    const log = (line: string) => t.comment(line)
    const served = await openServer({ ...places, port: 0, mount: false, log })
    t.teardown(() => served.close())
    return { ...places, url: served.url, close: () => served.close() }
  }
  return { dir, serve }
}

async function send(url: string, path: string, body?: object) {
  const init = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const response = await fetch(url + path, init)
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return response.json()
}

async function makePlan(url: string, title: string): Promise<string> {
  const { id } = await send(url, '/cases', { title, description: RUNBOOK })
  await send(url, `/cases/${id}/sessions`, { type: 'implementing' })
  return id
}

const inboxOf = (url: string) => send(url, '/inbox')

/** The lists of `GET /inbox/stream`; `until` waits for the first that fits. */
async function watchInbox(t: Test, url: string) {
  const stream = await connect(`${url}/inbox/stream`)
  t.teardown(() => stream.close())
  return {
    async until(fits: (inbox: InboxJson) => boolean): Promise<InboxJson> {
      const listOf = (data: string): InboxJson => JSON.parse(data).payload
      const { data } = await stream.next(
        (each) => each.event === 'inbox' && fits(listOf(each.data)),
      )
      return listOf(data)
    },
  }
}

t.test('one inbox for all workspaces', async (t) => {
  const { dir, serve } = workspaces(t)
  const shop = await serve('shop')
  const bill = await serve('billing')
  const stream = await watchInbox(t, shop.url)
  await stream.until(({ items }) => items.length === 0)

  const id = await makePlan(bill.url, 'Retry\u202e webhooks')
  const waits = await stream.until(({ items }) => items[0]?.kind === 'plan')
  const item = waits.items[0]!
  t.match(item, {
    workspace: 'billing',
    root: bill.root,
    kind: 'plan',
    case_id: id,
    agent: 'runbook',
    text: '1 step',
    plan_sha256: /^[0-9a-f]{64}$/,
    url: `${bill.url}/case/${id}/session/1`,
  })
  t.match(await inboxOf(shop.url), {
    items: [item],
    workspaces: [
      { name: 'shop', state: 'running', url: shop.url, waiting: 0 },
      { name: 'billing', state: 'running', url: bill.url, waiting: 1 },
    ],
  })
  const own = await send(shop.url, '/inbox?workspace=own')
  t.match([own.items.length, own.workspaces.length], [0, 1])

  const page = await fetch(`${shop.url}/inbox`, { headers: { accept: 'text/html' } })
  const html = await page.text()
  t.match(html, `href="${bill.url}/case/${id}/session/1"`)
  t.match(html, 'U+202E', 'text of others is shown by the one function')
  t.match(await (await fetch(`${shop.url}/`)).text(), 'href="/inbox"')

  await send(bill.url, `/cases/${id}/sessions/${item.session_id}/approve`, {
    plan_sha256: item.plan_sha256,
  })
  await stream.until(({ items }) => items[0]?.kind === 'verify')

  await bill.close()
  const stopped = await stream.until(({ workspaces }) => workspaces[1]?.state === 'stopped')
  t.match(stopped, {
    items: [{ kind: 'verify', url: null }],
    workspaces: [{}, { url: null, message: /casefile serve --root .*billing/ }],
  })

  renameSync(bill.root, join(dir, 'moved'))
  t.match(await inboxOf(shop.url), { items: [], workspaces: [{}, { state: 'gone', url: null }] })
})

t.test('a service that was killed, and what else is at its port', async (t) => {
  const { dir, serve } = workspaces(t)
  const shop = await serve('shop')
  const tools = await serve('tools')
  await makePlan(tools.url, 'Tidy')
  await (await watchInbox(t, shop.url)).until(({ items }) => items[0]?.kind === 'plan')
  const { port } = new URL(tools.url)
  // what a kill leaves: the record of a process that is gone
  const [left, owner] = [join(dir, 'left'), join(tools.stateDir, 'owner.json')]
  cpSync(tools.stateDir, left, { recursive: true })
  await tools.close()
  rmSync(tools.stateDir, { recursive: true })
  renameSync(left, tools.stateDir)
  const record = JSON.parse(readFileSync(owner, 'utf8'))
  writeFileSync(owner, JSON.stringify({ ...record, pid: spawnSync('true').pid }))
  const asked: string[] = []
  const foreign = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('{}')
  })
  await new Promise<void>((resolve) => foreign.listen(Number(port), '127.0.0.1', resolve))
  t.teardown(() => foreign.close())
  t.equal((foreign.address() as AddressInfo).port, Number(port))
  t.match(await inboxOf(shop.url), {
    items: [{ kind: 'plan', title: 'Tidy', url: null }],
    workspaces: [{}, { state: 'stopped' }],
  })
  t.strictSame(asked, [], 'the address of a dead process is not asked')
})

t.test('the command decides through the service of the workspace', async (t) => {
  const cli = cliHere(t)
  const service = await cli.serve()
  await makePlan(service.url, 'Door')
  await (await watchInbox(t, service.url)).until(({ items }) => items[0]?.kind === 'plan')
  t.match(await cli.run('inbox'), { code: 0, stdout: /^1 {2}Plan {2}Door {2}1 step/ })
  t.match((await cli.run('inbox', '--json')).json, { items: [{ title: 'Door' }] })
  t.match(await cli.run('inbox', '7'), { code: 3, stderr: /casefile inbox/ })
  t.match(await cli.run('inbox', '1'), { code: 2, stderr: /needs a terminal/ })
  const answers = [[/Approve this plan/, 'y']] as const
  t.match(await cli.runWith({ answers }, 'inbox', '1'), { code: 0, shown: /is running/ })
  await service.close()
  const { stdout, stderr } = await cli.run('inbox')
  t.match(stdout, /Door/)
  t.match(stderr, /No service runs/)
  t.match(await cli.run('inbox', '1'), { code: 1, stderr: /casefile serve --root/ })
})
