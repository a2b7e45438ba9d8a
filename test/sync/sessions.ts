import { readdirSync, rmSync } from 'node:fs'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { finished, must, newSession, reaches, step } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone, type SyncedClone } from '../fixtures/synced-clones.ts'

async function sessionOn(clone: SyncedClone, id: string, script: string) {
  const plan = step(script, 'sh run id=test proof=log')
  await must(clone, 'PUT', `/cases/${id}/memory/runbook.md`, plan)
  const ref = await newSession(clone, id)
  await reaches(clone, ref, 'plan_ready')
  return ref
}

t.test('two clones begin sessions with the same number', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Both ran' })
  const { id: other } = await must(a, 'POST', '/cases', { title: 'One still runs' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })

  await t.test('the later one gets another number, and its output moves with it', async (t) => {
    const first = await sessionOn(a, id, 'true')
    await must(a, 'POST', `${first.path}/abandon`)
    await finished(b, await sessionOn(b, id, 'echo the same'))
    await must(b, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
    for (const clone of [a, b]) rmSync(clone.path('cases', id, 'runbook.md'))
    await a.sync()
    const { state, renumbered } = await b.sync()
    t.match({ state, renumbered }, { state: 'in_sync', renumbered: [{ case_id: id }] })
    t.match(renumbered, [{ from: 1, to: 2 }])
    t.match(b.git('log', '-1', '--format=%B'), `${id}: session 1 is now session 2\n`)
    t.match(await a.sync(), { state: 'in_sync' })
    t.equal(a.tree(), b.tree())
    for (const clone of [a, b]) {
      const sessions = await must(clone, 'GET', `/cases/${id}/sessions`)
      t.strictSame(sessions.map((each: { number: number }) => each.number).sort(), [1, 2])
      for (const { problems } of sessions) t.strictSame(problems, [])
      t.strictSame((await must(clone, 'GET', `/cases/${id}`)).problems, [])
    }
    const present = readdirSync(b.path('cases', id, 'artifacts'))
    t.strictSame(present, ['2-test.log'])
    const sessions = await must(b, 'GET', `/cases/${id}/sessions`)
    const own = sessions.find((each: { number: number }) => each.number === 2)
    const names = own.candidates.map(({ artifact }: { artifact: string }) => artifact)
    t.strictSame(names, present)
    const next = await newSession(b, id)
    t.equal((await must(b, 'GET', next.path)).number, 3)
  })

  await t.test('a sync waits for one that runs here', inLongLane, async (t) => {
    await sessionOn(a, other, 'true')
    await a.sync()
    const ref = await sessionOn(b, other, 'sleep 600')
    await must(b, 'POST', `${ref.path}/approve`, {})
    await reaches(b, ref, 'executing')
    const stopped = await b.sync()
    t.match(stopped, { code: 'session_running', reason: `Session 1 of case ${other} runs here` })
    t.equal((await must(b, 'GET', `/cases/${other}/sessions`)).length, 1, 'no file was moved')
    await must(b, 'POST', `${ref.path}/abandon`, {})
    await reaches(b, ref, 'abandoned')
    t.match((await b.sync()).renumbered, [{ session_id: ref.id, from: 1, to: 2 }])
    t.equal((await must(b, 'GET', ref.path)).number, 2)
  })
})
