import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { JITTER, RETRY_WAITS_MS } from '../../src/model/delivery.ts'
import { DEFAULT_EVENTS, FURTHER_EVENTS } from '../../src/model/event-lookup.ts'
import { openDatabase } from '../../src/state/database.ts'
import { queueEvent, saveOutcomes } from '../../src/state/webhooks.ts'
import { messageId, newDelivery, signedHeaders } from '../../src/webhooks/message.ts'
import { type Fence, fencesOf, readPage, tableBelow, typedIn } from '../fixtures/doc-code.ts'
import { openReceiver } from '../fixtures/receiver.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const page = readPage('docs/webhooks.md')
const fences = fencesOf(page)
const blocks = fences.filter(({ language }) => language === 'sh')
const SECRET = 'try it out'

function fileOnPage(name: string): Fence {
  const found = fences.find(({ file }) => file === name)
  if (!found) throw new Error(`docs/webhooks.md has no ${name}`)
  return found
}

/** What the page says that starts this receiver. */
function commandFor(name: string): string {
  const after = fences.slice(fences.indexOf(fileOnPage(name)))
  const found = after.find(({ language }) => language === 'console')
  return found ? typedIn(found) : ''
}

/** Skips where a program is missing. */
function needing(...programs: string[]): { skip?: string } {
  const missing = programs.filter((name) => spawnSync(name, ['-h']).error)
  return missing.length > 0 ? { skip: `${missing.join(', ')} not installed` } : {}
}

/** A program that tells what it has printed so far, on both streams. */
interface Program {
  child: ChildProcess
  /** The first match; waits for it. Rejects when the program ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  printed(): string
  stop(): Promise<void>
}

/** Without what tap adds to every node process. */
const OWN_ENV = { ...process.env, NODE_OPTIONS: '' }

function run(t: Test, file: string, args: string[], cwd: string, env: Record<string, string> = {}) {
  // a group of its own, to be stopped with what it has started
  const child = spawn(file, args, { cwd, env: { ...OWN_ENV, ...env }, detached: true })
  const closed = once(child, 'close')
  let printed = ''
  let hasEnded = false
  const waiting = new Set<() => void>()
  const notify = () => {
    for (const look of waiting) look()
  }
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      notify()
    })
  }
  child.on('close', () => {
    hasEnded = true
    notify()
  })
  const program: Program = {
    child,
    printed: () => printed,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(printed)
          if (!found && !hasEnded) return
          waiting.delete(look)
          if (found) resolve(found)
          else reject(new Error(`it ended without ${pattern}: ${printed}`))
        }
        waiting.add(look)
        look()
      }),
    async stop() {
      if (!hasEnded && child.pid !== undefined) process.kill(-child.pid)
      await closed
    },
  }
  t.teardown(program.stop)
  return program
}

/** A receiver, started as the page says, on a port of its own. */
async function startReceiver(t: Test, name: string, folder: string) {
  writeFileSync(join(folder, name), fileOnPage(name).code)
  const command = commandFor(name)
  t.match(command, `WEBHOOK_SECRET='${SECRET}' `)
  const program = run(t, 'bash', ['-ec', command], folder, { PORT: '0' })
  const [, port] = await program.until(/listening on http:\/\/127\.0\.0\.1:(\d+)/)
  return { ...program, url: `http://127.0.0.1:${port}` }
}

/** Events that a receiver printed, with their ids. */
function taken(program: Program): { id: string; event: Record<string, unknown> }[] {
  const lines = [...program.printed().matchAll(/^((?:ping|evt)_\S+) (\{.*\})$/gm)]
  return lines.map(([, id = '', text = '']) => ({ id, event: JSON.parse(text) }))
}

async function must(app: TestService, method: string, path: string, body?: object) {
  const reply = await app.request(method, path, body)
  if (reply.status > 299) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.json
}

/** The newest delivery, once there were so many attempts; asks again and again. */
async function tried(app: TestService, path: string, attempts: number) {
  for (;;) {
    const [newest] = await must(app, 'GET', `${path}/deliveries`)
    if (newest?.attempts.length >= attempts) return newest
    await delay(5)
  }
}

const receivers: [language: string, file: string, ...needs: string[]][] = [
  ['Node', 'receiver.mjs', 'bash'],
]

t.test('the receivers of the page', async (t) => {
  const app = await openTestService(t)

  for (const [language, file, ...needs] of receivers) {
    t.test(`in ${language}`, needing(...needs), async (t) => {
      t.teardown(() => {}) // or tap removes the testdir before the receiver has ended
      const folder = t.testdir()
      let receiver = await startReceiver(t, file, folder)
      const { id: case_id } = await app.newCase()
      const list = `/cases/${case_id}/webhooks`
      const url = `${receiver.url}/hook`
      const hook = await must(app, 'POST', list, { url, secret: SECRET })
      const path = `/webhooks/${hook.id}`

      const ping = await must(app, 'POST', `${path}/test`)
      if (!t.match(ping, { delivered: true, status: 204, error: null })) return
      await receiver.until(/^ping_.*\}$/m)
      const payload = { webhook_id: hook.id, case_id }
      t.match(taken(receiver), [{ id: ping.id, event: { event_type: 'ping', payload } }])

      const wrong = await must(app, 'POST', list, { url, secret: `${SECRET}!` })
      const refused = await must(app, 'POST', `/webhooks/${wrong.id}/test`)
      t.match(refused, { delivered: false, status: 401 }, 'another secret is refused')

      await must(app, 'PUT', `/cases/${case_id}`, { title: 'Changed' })
      const delivery = await tried(app, path, 1)
      t.match(delivery, { state: 'delivered', attempts: [{ status: 204 }] })
      const failed = await tried(app, `/webhooks/${wrong.id}`, 1)
      t.match(failed, { state: 'retrying', attempts: [{ status: 401 }] }, 'also for an event')
      await receiver.until(/^evt_.*\}$/m)
      const [, event, ...more] = taken(receiver)
      t.match(event, { id: delivery.id, event: { event_type: 'case_updated' } })
      t.strictSame(more, [], 'and nothing else was taken')

      await must(app, 'POST', `${path}/deliveries/${delivery.id}/redeliver`)
      t.match(await tried(app, path, 2), { attempts: [{ status: 204 }, { status: 204 }] })
      await receiver.until(new RegExp(`^${delivery.id} [^]*^${delivery.id} .*$`, 'm'))
      t.match(receiver.printed(), `${delivery.id} was here before`)

      t.test('signatures of others', async (t) => {
        const body = Buffer.from('{"text":"\\\\ \\" ż 🐢 %s $HOME","more":[1, 2]}')
        const at = Date.now()
        const headersFor = (id: string, secret: string) =>
          signedHeaders({
            id,
            type: 'x',
            body,
            at,
            secrets: [secret],
          })
        const post = async (headers: Record<string, string>, bytes = body) =>
          (await fetch(url, { method: 'POST', headers, body: bytes })).status
        t.equal(await post(headersFor('evt_9_a', SECRET)), 204, 'any text may be in a body')
        await receiver.until(/^evt_9_a /m)
        t.strictSame(taken(receiver).at(-1)?.event, JSON.parse(body.toString()))
        const good = headersFor('evt_9_b', SECRET)
        t.equal(await post(good, Buffer.from(`${body} `)), 401, 'another body')
        t.equal(await post({ 'webhook-id': 'evt_9_b' }), 401, 'none')
        for (const signature of ['', 'sha256=', 'sha256=00', 'é', 'x'.repeat(71)]) {
          const status = await post({ ...good, 'X-Service-Signature': signature })
          t.equal(status, 401, JSON.stringify(signature))
        }
        t.not((await fetch(url)).ok, true, 'GET')
        t.notMatch(receiver.printed(), 'evt_9_b')
      })

      t.test('knows what it had also after a restart', async (t) => {
        await receiver.stop()
        receiver = await startReceiver(t, file, folder)
        await must(app, 'PATCH', path, { url: `${receiver.url}/again` })
        await must(app, 'POST', `${path}/deliveries/${delivery.id}/redeliver`)
        await receiver.until(new RegExp(`^${delivery.id} \\w.*\\n`, 'm'))
        t.match(receiver.printed(), `${delivery.id} was here before`)
        t.strictSame(taken(receiver), [])
      })
    })
  }
})

t.test('a library verifies what arrives, as the page says', async (t) => {
  const { code } = fileOnPage('verify.mjs')
  const app = await openTestService(t)
  writeFileSync(join(app.root, 'verify.mjs'), code)
  const receiver = await openReceiver(t)
  const script = `
    import { readFileSync } from 'node:fs'
    import { eventOf } from './verify.mjs'
    const { headers, body } = JSON.parse(readFileSync(0))
    console.log(JSON.stringify(eventOf(headers, Buffer.from(body, 'base64'))))`

  const secrets: [name: string, secret: string | undefined, asText: boolean | null][] = [
    ['one that was made', undefined, null],
    ['a text', SECRET, true],
    ['a text that is base64', 'c2VjcmV0', true],
    ['a text that is not ASCII', 'Geheimnis für Żółw 🐢', false],
  ]
  for (const [name, given, asText] of secrets) {
    t.test(name, async (t) => {
      const body = { url: receiver.url, secret: given }
      const { id, secret = given } = await must(app, 'POST', '/webhooks', body)
      t.match(await must(app, 'POST', `/webhooks/${id}/test`), { delivered: true })
      const came = await receiver.next()
      const verify = (bytes: Buffer, env = { ...OWN_ENV, WEBHOOK_SECRET: secret }) =>
        spawnSync(process.execPath, ['--input-type=module', '-e', script], {
          cwd: app.root,
          env,
          encoding: 'utf8',
          input: JSON.stringify({ headers: came.headers, body: bytes.toString('base64') }),
        })
      const { stdout, stderr } = verify(came.body)
      t.equal(stderr, '')
      t.strictSame(JSON.parse(stdout), JSON.parse(came.body.toString()))
      const other = verify(Buffer.from(`${came.body} `))
      t.match(other, { status: 1, stdout: '', stderr: /No matching signature found/ })
      if (asText === null) return
      const headers = came.headers as Record<string, string>
      const plain = () => new Webhook(secret, { format: 'raw' }).verify(came.body, headers)
      if (asText) t.ok(plain(), 'given as text it is right')
      else t.throws(plain, /No matching signature/, 'given as text it is wrong')
    })
  }
})

t.test('what arrives is what the page shows', async (t) => {
  const example = fences.find(({ language }) => language === 'http')?.code ?? ''
  const [head = '', body = ''] = example.trimEnd().split('\n\n')
  const fields = head.split('\n').slice(1)
  const shown = Object.fromEntries(fields.map((line) => line.split(': '))) as Record<string, string>

  t.test('its signatures are those of its body', async (t) => {
    const mac = createHmac('sha256', SECRET).update(body).digest('hex')
    t.equal(shown['X-Service-Signature'], `sha256=${mac}`)
    const at = new Date(Number(shown['webhook-timestamp']) * 1000)
    const library = new Webhook(Buffer.from(SECRET), { format: 'raw' })
    t.equal(shown['webhook-signature'], library.sign(shown['webhook-id'] ?? '', at, body))
    t.equal(shown['content-length'], String(Buffer.byteLength(body)))
    const { event_type, timestamp } = JSON.parse(body)
    t.equal(shown['X-Service-Event'], event_type)
    t.equal(Date.parse(timestamp) - at.getTime() < 1000, true, 'in the second of the event')
    const [, id] = shown['webhook-id']?.split('_') ?? []
    t.equal(shown['webhook-id'], messageId({ id: Number(id), type: event_type, envelope: body }))
  })

  t.test('it has the headers that come, and no other', async (t) => {
    const app = await openTestService(t)
    const receiver = await openReceiver(t)
    await must(app, 'POST', '/webhooks', { url: receiver.url, secret: SECRET })
    const { id } = await app.newCase()
    await must(app, 'PUT', `/cases/${id}/state`, { state: 'INVESTIGATING' })
    const came = await receiver.next()
    const lower = Object.keys(shown).map((name) => name.toLowerCase())
    t.strictSame(lower, Object.keys(came.headers))
    t.match(came.headers, {
      'user-agent': /^Casefile\/\d/,
      'content-type': shown['content-type'],
      connection: shown.Connection,
    })
    t.strictSame(shape(JSON.parse(came.body.toString())), shape(JSON.parse(body)))
  })

  t.test('each header of ours has a row', async (t) => {
    const rows = tableBelow(page, 'header | ').map(([name]) => name)
    const ours = Object.keys(shown).filter((name) => /^(x-service|webhook)-/i.test(name))
    t.strictSame(
      rows,
      ours.map((name) => `\`${name}\``),
    )
  })
})

/** The names of fields, in their order, without what is in them. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shape)
  if (value === null || typeof value !== 'object') return null
  return Object.entries(value).map(([key, inside]) => [key, shape(inside)])
}

/** A shell into which blocks are pasted one after the other; gives what each prints. */
function openShell(t: Test, cwd: string, change: (block: string) => string) {
  const shell = run(t, 'sh', ['-eu'], cwd)
  let from = 0
  return async (block: string): Promise<string> => {
    const mark = `end of ${randomUUID()}`
    shell.child.stdin?.write(`${change(block)}\nprintf '\\n%s\\n' '${mark}'\n`)
    await shell.until(new RegExp(mark))
    const text = shell.printed().slice(from, shell.printed().indexOf(`\n${mark}`))
    from = shell.printed().length
    return text
  }
}

const promises: [what: string, printed: RegExp | object, until?: RegExp][] = [
  ['a ping arrives', { delivered: true, status: 204 }, /^ping_/m],
  ['nothing is dead', /^$/],
]

t.test('the page can be pasted', needing('bash', 'curl', 'jq'), async (t) => {
  t.equal(blocks.length, promises.length)
  const app = await openTestService(t)
  t.match(page, `start it with \`${commandFor('receiver.mjs')}\``)
  const receiver = await startReceiver(t, 'receiver.mjs', app.root)
  const here = (block: string) =>
    block
      .replaceAll('http://127.0.0.1:7878', app.url)
      .replaceAll('http://127.0.0.1:9000', receiver.url)
  const paste = openShell(t, app.root, here)

  for (const [index, [what, promised, arrives]] of promises.entries()) {
    const block = blocks[index] as Fence
    const printed = await paste(block.code)
    t.match(promised instanceof RegExp ? printed : JSON.parse(printed), promised, what)
    const shown = fences[fences.indexOf(block) + 1]
    if (shown?.language === 'json') {
      t.strictSame(shape(JSON.parse(shown.code)), shape(JSON.parse(printed)), 'as it is shown')
    }
    if (arrives) await receiver.until(arrives)
  }
})

t.test('the loop sends again what is dead, the oldest first', needing('curl', 'jq'), async (t) => {
  const app = await openTestService(t)
  const receiver = await openReceiver(t)
  const { id } = await must(app, 'POST', '/webhooks', { url: receiver.url, secret: SECRET })
  await app.close()
  const database = await openDatabase(app.stateDir, t.fail)
  const dead = [1, 2].map((event) => {
    const timestamp = '2026-11-20T09:54:00.000Z'
    const envelope = JSON.stringify({ event_type: 'case_updated', timestamp, payload: {} })
    const queued = { id: event, type: 'case_updated', envelope }
    const before = newDelivery(queued)
    database.write((run) => {
      queueEvent(run, id, queued)
      saveOutcomes(run, id, [{ before, after: { ...before, state: 'dead', tries: 10 } }], null)
    })
    return before
  })
  await database.close()
  await app.restart()
  const loop = blocks.find(({ code }) => code.includes('/redeliver'))?.code ?? ''
  const paste = openShell(t, app.root, (block) => `url=${app.url} webhook=${id}\n${block}`)
  const printed = (await paste(loop)).trim().split('\n')
  t.strictSame(
    printed.map((line) => JSON.parse(line)),
    dead.map((delivery) => ({ id: delivery.id, state: 'retrying' })),
  )
  const came = await receiver.until(2)
  const idsOf = (all: readonly { id?: unknown }[]) => all.map((each) => String(each.id)).sort()
  t.strictSame(idsOf(came.map(({ headers }) => ({ id: headers['webhook-id'] }))), idsOf(dead))
})

t.test('the tables and lists are those of the program', async (t) => {
  t.test('the schedule', async (t) => {
    const said = /^Nine more attempts follow, after (.+): about three days in all\.$/m.exec(
      page,
    )?.[1]
    let unit = ''
    const waits = (said ?? '')
      .split(/, and |, | and /)
      .reverse() // a number alone has the unit of the one behind it
      .map((wait) => {
        unit = wait.split(' ')[1] ?? unit
        return ms(`${Number.parseInt(wait, 10)} ${unit}`)
      })
    t.strictSame(waits.reverse(), RETRY_WAITS_MS)
    t.equal(waits.length, 9)
    t.equal(Math.round(waits.reduce((sum, wait) => sum + wait) / ms('24 hours')), 3)
    t.match(page, `Waits vary by ±${JITTER * 100} %`)
  })

  t.test('the names of events', async (t) => {
    const [, tables = '', section = ''] = page.split(/\n#+ (?:The events|Which events)\n/)
    const [all] = fencesOf(section).map(({ code }) => code.trim().split(/\s+/))
    t.strictSame(all, DEFAULT_EVENTS)
    const named = new Set([...tables.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name))
    for (const name of [...DEFAULT_EVENTS, ...FURTHER_EVENTS]) t.ok(named.has(name), name)
  })
})

/** `5 min` in milliseconds. */
function ms(text: string): number {
  const units: Record<string, number> = { s: 1000, min: 60_000, hours: 3_600_000 }
  const [count, unit = ''] = text.split(' ')
  return Number(count) * (units[unit] ?? Number.NaN)
}
