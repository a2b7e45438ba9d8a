import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import which from 'which'
import { connect } from '../fixtures/event-source.ts'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const NGINX = which.sync('nginx', { nothrow: true, path: `${process.env.PATH}:/usr/sbin` })

/** Where Debian's nginx passes everything on to an address, with what it does when it is told no more. */
async function proxyTo(t: Test, url: string): Promise<string> {
  const folder = t.testdir({ logs: {}, temp: {} })
  const port = await freePort()
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const config = `
    daemon off;
    master_process off;
    pid ${folder}/pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      ${temps.map((name) => `${name}_temp_path ${folder}/temp;`).join('\n')}
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass ${url}; }
      }
    }`
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, config)
  const child = spawn(NGINX!, ['-c', file, '-p', folder, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (some) => {
    said += some
  })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const proxy = `http://127.0.0.1:${port}`
  for (;;) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`)
    const response = await fetch(`${proxy}/version`).catch(() => null) // until it listens
    if (response) return proxy
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const none = NGINX ? {} : { skip: 'no nginx here' }
t.test('events come through nginx at once, as it is when nobody configures it', none, async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const ref = await planned(app, { runbook: step('until test -e go; do sleep 0.02; done') })
  await t.test('on both streams', async (t) => {
    const proxy = await proxyTo(t, app.url)
    const events = await connect(`${proxy}/events?after=now`)
    t.match(events, { status: 200, headers: { 'content-type': 'text/event-stream' } })
    // each before the next is made, so none waits in a buffer
    for (let n = 0; n < 5; n++) {
      await must(app, 'PUT', `/cases/${id}`, { title: `T${n}` })
      await events.next(({ event }) => event === 'case_updated')
    }
    const session = await connect(`${proxy}${ref.path}/stream`)
    await must(app, 'POST', `${ref.path}/approve`)
    await session.next(({ event }) => event === 'plan_approved')
    writeFileSync(join(app.root, 'go'), '')
    t.equal(await session.closed, 'ended', 'and its end comes too')
    events.close()
  })
})
