/** What a kill -9 of the built program at any moment leaves of the line. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readTrail } from '../../src/markdown/trail.ts'
import { type BuiltService, startBuilt } from '../fixtures/built-service.ts'
import { isFull } from '../fixtures/full.ts'
import { git, inLine, must, planned, type Ref, reaches, step } from '../fixtures/session-client.ts'
import { runsIn } from '../fixtures/state-rows.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

async function openBuilt(t: Test): Promise<BuiltService> {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: { '.gitignore': 'go*\nran*\n', 'code.txt': 'one\n' }, state: {} })
  const root = join(dir, 'root')
  git(root, 'init', '-q')
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'begin')
  return startBuilt(t, { root, stateDir: join(dir, 'state') })
}

let folders = 0

/** A session at work, and others for its folder whose plans wait for approval. */
async function begun(service: BuiltService, others: number) {
  const workdir = `folder-${++folders}`
  const folder = join(service.root, workdir)
  mkdirSync(folder)
  const runbook = step('until test -e go; do sleep 0.02; done')
  const first = await planned(service, { runbook, fields: { workdir } })
  const refs: Ref[] = []
  for (let n = 0; n < others; n++) {
    const script = step('touch ran-$CASEFILE_SESSION')
    refs.push(await planned(service, { runbook: script, fields: { workdir } }))
  }
  await must(service, 'POST', `${first.path}/approve`)
  await reaches(service, first, 'executing')
  return {
    first,
    refs,
    end: () => writeFileSync(join(folder, 'go'), ''),
    hasRun: ({ id }: Ref) => existsSync(join(folder, `ran-${id}`)),
  }
}

/** Its file has no gap, no problem, and is sealed only if it ended. */
async function mustBeWhole(t: Test, service: BuiltService, ref: Ref) {
  const session = await must(service, 'GET', ref.path)
  t.strictSame(session.problems, [])
  const file = join(service.root, 'memory/cases', ref.case_id, 'sessions', `${session.number}.md`)
  const trail = readTrail(readFileSync(file, 'utf8'))!.lines.map(({ line }) => line)
  t.strictSame(
    trail.map(({ number }) => number),
    trail.map((_, index) => index + 1),
  )
  return { session, trail }
}

const KILLS = isFull ? 45 : 6

t.test('kill -9 at any moment of a turn', linuxOnly, async (t) => {
  const service = await openBuilt(t)
  const seen: Record<string, number> = {}
  for (let round = 0; round < KILLS; round++) {
    const place = await begun(service, 2)
    const asked = place.refs.map((ref) =>
      must(service, 'POST', `${ref.path}/approve`, { queue: true }).catch(() => null),
    )
    // before the answer, before the turn, or around the start
    const moment = round % 3
    if (moment > 0) await Promise.all(asked)
    place.end()
    if (moment === 2) await reaches(service, place.first, 'complete')
    await delay(Math.random() * [300, 600, 1500][moment]!)
    await service.stop('SIGKILL')
    await Promise.all(asked)
    await service.restart()
    for (const ref of place.refs) {
      const { session, trail } = await mustBeWhole(t, service, ref)
      const { state } = session
      seen[state] = (seen[state] ?? 0) + 1
      const hasStarted = trail.some(({ event }) => event === 'session_started')
      t.ok(['plan_ready', 'failed', 'complete'].includes(state), state)
      t.equal(state !== 'plan_ready', hasStarted, 'failed only if it had started')
      if (place.hasRun(ref)) t.ok(hasStarted)
    }
    t.strictSame(runsIn(service.stateDir), [])
    t.strictSame(await inLine(service), [])
  }
  t.comment(JSON.stringify(seen))
})
