import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { processStat } from '../../src/runners/process/procfs.ts'
import { openSandbox } from '../../src/runners/process/sandbox.ts'
import { startBuilt } from '../fixtures/built-service.ts'
import { type Client, must, planned, says, step, stream } from '../fixtures/session-client.ts'

const probe = await openSandbox({ readOnly: [tmpdir()], hidden: null, open: [] })
const here = probe.kind === 'none' ? { skip: `no guard on this machine: ${probe.reason}` } : {}

/** Leaves a process behind that has neither run id nor session nor parent of the run. */
const SHED = "(env -i setsid sh -c 'echo orphan=$$. > said; exec sleep 60' &); cat said"

const isAlive = (pid: number) => !['Z', 'X', undefined].includes(processStat(pid)?.state)

/** A session at work that has left such a process, and waits. */
async function atWork(t: Test, args: string[] = []) {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: {}, state: {} })
  const [root, stateDir] = [join(dir, 'root'), join(dir, 'state')]
  const service = await startBuilt(t, { root, stateDir, args })
  const runbook = step(SHED, 'sh run id=a') + step('echo begun; read go < go', 'sh run id=b')
  const ref = await planned(service, { runbook: step('mkfifo go said') + runbook })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'begun')
  const log = join(root, 'memory/cases', ref.case_id, 'artifacts/1-a.log')
  const orphan = Number(/orphan=(\d+)/.exec(readFileSync(log, 'latin1'))?.[1])
  t.teardown(() => isAlive(orphan) && process.kill(orphan, 'SIGKILL'))
  t.ok(isAlive(orphan), `${orphan}`)
  return { service, ref, events, orphan }
}

const abandon = (client: Client, path: string) => must(client, 'POST', `${path}/abandon`, {})

t.test('a process that has shed its run id ends with its session', here, async (t) => {
  const { service, ref, orphan } = await atWork(t)
  await abandon(service, ref.path)
  t.notOk(isAlive(orphan))
})

t.test('and with the service that died', here, async (t) => {
  const { service, ref, orphan } = await atWork(t)
  await service.stop('SIGKILL')
  t.ok(isAlive(orphan))
  await service.restart()
  t.match(await must(service, 'GET', ref.path), { state: 'failed' })
  t.notOk(isAlive(orphan))
})

t.test('without mounts it lives on: a known limit', here, async (t) => {
  const { service, ref, orphan } = await atWork(t, ['--no-mount'])
  await abandon(service, ref.path)
  t.ok(isAlive(orphan))
})
