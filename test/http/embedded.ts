import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type CreateServiceOptions, createService } from '../../src/embedded-service.ts'

t.teardown(() => {}) // tap removes the testdir before all handlers, but for one that was there first
const dir = t.testdir({ root: {} })
const options = {
  root: join(dir, 'root'),
  stateDir: join(dir, 'state'),
  mount: false,
  log: () => {},
}

t.test('a wrong option is a TypeError that names it', async (t) => {
  const wrong: [options: object, message: RegExp][] = [
    [{ root: '' }, /needs \{ root \}/],
    [{ rot: 'x' }, /needs \{ root \}/],
    [{ statedir: '/x' }, /no option "statedir": the options are root, port, /],
    [{ trust: 'false' }, /trust is 'false': expected a boolean/],
    [{ stateDir: '' }, /stateDir is '': expected a string/],
    [{ port: 65_536 }, /port is 65536: expected a whole number/],
    [{ port: 1.5 }, /port is 1\.5/],
    [{ port: -1 }, /port is -1/],
  ]
  for (const [fields, message] of wrong) {
    const sent = 'rot' in fields ? fields : { ...options, ...fields }
    await t.rejects(createService(sent as CreateServiceOptions), { name: 'TypeError', message })
  }
})

t.test('a service in this process answers until it is closed, and is the only one', async (t) => {
  const service = await createService({ ...options, port: undefined as never })
  const { status } = await fetch(`${service.url}/health`)
  t.equal(status, 200)
  t.equal((await fetch(`${service.url}/providers`)).status, 404, 'not for development')
  await t.rejects(createService(options), { code: 'already_active' })
  const other = { ...options, root: join(dir, 'other'), stateDir: join(dir, 'other-state') }
  await t.rejects(createService(other), { code: 'bad_request' }, 'of no folder')
  mkdirSync(other.root)
  const { port } = new URL(service.url)
  await t.rejects(createService({ ...other, port: Number(port) }), { code: 'already_active' })
  const closed = service.close()
  t.equal(service.close(), closed)
  await closed
  await t.rejects(fetch(`${service.url}/health`))
  const again = await createService({ ...options, dev: true })
  t.equal((await fetch(`${again.url}/providers`)).status, 200)
  await again.close()
})
