import { hash } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { git } from '../fixtures/git-repository.ts'
import { must, newSession, planned, type Ref, reaches, step } from '../fixtures/session-client.ts'
import { changeState } from '../fixtures/state-rows.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const TIME = '2026-11-24T00:00:00.000Z'
const line = (number: number, state: string) =>
  `${number}. ${TIME} session_state_changed old_state=plan_ready new_state=${state}\n`

function fileOf(service: TestService, { case_id }: Ref): string {
  return service.file(case_id, 'sessions', '1.md')
}

async function until(t: Test, what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not in two minutes: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.pass(what)
}

function sealed(text: string): string {
  return `${text}9. ${TIME} session_sealed sha256=${hash('sha256', text)}\n`
}

/** What a person makes of the file of a session that waits for approval. */
const CHANGES: Record<string, (text: string) => string> = {
  'a line that makes it complete': (text) => text + line(8, 'complete'),
  'failed, with a seal that fits': (text) =>
    sealed(text.replace('state: plan_ready', 'state: failed') + line(8, 'failed')),
  'its last line is gone': (text) => text.replace(/^2\. .*\n/m, ''),
  'a line is another one': (text) => text.replace(/^(2\. \S+).*$/m, '$1 context_loaded'),
  'the trail is gone': (text) => text.slice(0, text.indexOf('\n## Audit trail')),
}

t.test('what a person makes of a trail while no service runs does not count', async (t) => {
  // or they would be back before all are asked about
  const service = await openTestService(t, { limits: { handEdit: 600_000 } })
  const all = []
  for (const [name, change] of Object.entries(CHANGES)) {
    const ref = await planned(service, { runbook: step('echo hi') })
    const file = fileOf(service, ref)
    all.push({ name, change, ref, file, text: readFileSync(file, 'utf8') })
  }
  await service.close()
  for (const { change, file, text } of all) writeFileSync(file, change(text))
  await service.restart()
  for (const { name, ref } of all) {
    const found = await must(service, 'GET', ref.path)
    t.match(found, { state: 'plan_ready', problems: [{ code: 'trail_changed' }] }, name)
    t.equal(found.problems.length, 1, name)
  }
  await service.restart()
  for (const { name, ref, file, text } of all) {
    t.equal(readFileSync(file, 'utf8'), text, `${name}: as it was`)
    t.strictSame((await must(service, 'GET', ref.path)).problems, [], name)
  }
})

t.test('with a service that begins again', async (t) => {
  const service = await openTestService(t)
  const { root } = service
  git(root, 'init', '--quiet')
  const commit = (message: string) => {
    git(root, 'add', '--all')
    git(root, 'commit', '--quiet', '--message', message)
  }

  await t.test('what git brings counts, and what git does not have is not lost', async (t) => {
    const ref = await planned(service, { runbook: step('until test -e go; do sleep 0.1; done') })
    const file = fileOf(service, ref)
    commit('planned')
    const { plan_sha256 } = await must(service, 'POST', `${ref.path}/approve`)
    await reaches(service, ref, 'executing')
    git(root, 'stash', '--quiet')
    const running = await must(service, 'GET', ref.path)
    t.equal(running.plan_sha256, plan_sha256, 'git stash takes no field away')
    writeFileSync(`${root}/go`, '')
    await reaches(service, ref, 'complete')
    t.match(readFileSync(file, 'utf8'), `\nplan_sha256: ${plan_sha256}\n`)
    const state = async () => (await must(service, 'GET', ref.path)).state
    const lines = () => readFileSync(file, 'utf8').match(/^\d+\. .*$/gm)
    const all = lines()

    for (const isRunning of [true, false]) {
      if (!isRunning) await service.close()
      git(root, 'checkout', '--quiet', '--force', '.')
      t.not(lines()?.length, all?.length, 'the lines of the run are gone')
      if (!isRunning) await service.restart()
      t.equal(await state(), 'complete', 'and count all the same')
      await until(t, 'they come back', () => lines()?.length === all?.length)
    }
    t.strictSame(lines(), all)

    commit('run')
    for (const isRunning of [true, false]) {
      const checkout = async (...where: string[]) => {
        if (!isRunning) await service.close()
        git(root, 'checkout', '--quiet', ...where)
        if (!isRunning) await service.restart()
      }
      await checkout('HEAD~1')
      await until(
        t,
        'an old commit is shown as it was',
        async () => (await state()) === 'plan_ready',
      )
      t.equal(git(root, 'status', '--porcelain'), '', 'and stays as git has it')
      await checkout('-')
      await until(t, 'and so is the new one', async () => (await state()) === 'complete')
    }
  })

  await t.test('what only an object of git has is no change by git', async (t) => {
    const ref = await planned(service, { runbook: step('echo hi') })
    commit('planned')
    const file = fileOf(service, ref)
    const text = readFileSync(file, 'utf8')
    for (const put of [
      ['add', file],
      ['stash', 'create'],
    ]) {
      await service.close()
      writeFileSync(
        file,
        text.replace('state: plan_ready', 'state: complete') + line(8, 'complete'),
      )
      git(root, ...put)
      await service.restart()
      t.match(await must(service, 'GET', ref.path), {
        state: 'plan_ready',
        problems: [{ code: 'trail_changed' }],
      })
      await until(t, 'the file is as it was', () => readFileSync(file, 'utf8') === text)
    }
  })

  await t.test('true lines are put back at the stop, without waiting for quiet', async (t) => {
    const ref = await planned(service, { runbook: step('echo hi') })
    // the second session of the case: the first one stays as it is
    const second = await newSession(service, ref.case_id)
    await reaches(service, second, 'plan_ready')
    const file = service.file(ref.case_id, 'sessions', '2.md')
    const text = readFileSync(file, 'utf8')
    appendFileSync(file, line(8, 'complete'))
    t.match(await must(service, 'GET', second.path), { problems: [{ code: 'trail_changed' }] })
    await service.close()
    t.equal(readFileSync(file, 'utf8'), text)

    const fields = { old_state: 'plan_ready', new_state: 'abandoned' }
    const lines = [{ number: 8, time: TIME, event: 'session_state_changed', fields }]
    const row = JSON.stringify({ after: 7, lines, fields: {}, gitNames: [] })
    const put =
      'INSERT INTO trails (case_id, file, session_id, after, trail) VALUES (?, ?, ?, ?, ?)'
    const key = [ref.case_id, 'sessions/2.md', second.id]
    await changeState(service.stateDir, put, ...key, 7, row)
    await service.restart()
    const found = await must(service, 'GET', second.path)
    t.match(found, { state: 'plan_ready', problems: [] }, 'a line that a kill kept from the file')
    t.strictSame(found.problems, [])
  })
})

t.test('check judges by what is remembered, and --fix puts that back', async (t) => {
  const service = await openTestService(t)
  const ref = await planned(service, { runbook: step('echo hi') })
  const file = fileOf(service, ref)
  const text = readFileSync(file, 'utf8')
  await service.close()
  writeFileSync(file, text.replace('state: plan_ready', 'state: complete') + line(8, 'complete'))
  const place = { root: service.root, stateDir: join(service.root, '..', 'state') }
  const found = await checkWorkspace(place, {})
  t.match(found.findings, [{ code: 'trail_changed' }])
  const fixed = await checkWorkspace({ ...place, fix: true }, {})
  t.strictSame(fixed.findings, [])
  t.equal(readFileSync(file, 'utf8'), text)
})
