import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { leftProcesses } from '../../src/runners/process/left-processes.ts'
import { committed } from '../fixtures/plain-agents.ts'
import { must, ran, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

/** A program that leaves its session, its environment and its parents behind, and obeys files after its run. */
const LATE = (name: string) => `
(setsid env -i PATH="$PATH" "$PWD/${name}" -c '
  until [ -e go ]; do sleep 0.05; done
  . ./go
  touch gone
  until [ -e stop ]; do sleep 0.05; done' > /dev/null 2>&1 &)
sleep 0.2`

async function scene(t: Test, name: string) {
  const service = await openTestService(t, {
    files: {},
    mount: false,
    leftProcesses: (since) => leftProcesses(since).filter((each) => each.name === name),
  })
  const at = (file: string) => join(service.root, file)
  copyFileSync('/bin/sh', at(name))
  t.teardown(() => writeFileSync(at('stop'), ''))
  return { service, at }
}

t.test('what outlives its run without mounts cannot change what counts', linuxOnly, async (t) => {
  const { service, at } = await scene(t, 'late-writer')
  const { ref } = await ran(service, step(LATE('late-writer')))
  const path = `/cases/${ref.case_id}`
  const proof = await must(service, 'POST', `${path}/proof`, { type: 'log', content: 'x' })
  const [file = ''] = readdirSync(service.file(ref.case_id, 'proof'))
  const proofFile = service.file(ref.case_id, `proof/${file}`)
  const before = readFileSync(proofFile, 'utf8')
  writeFileSync(at('go.new'), `sed -i 's/^verified: false/verified: true/' '${proofFile}'\n`)
  renameSync(at('go.new'), at('go')) // whole at once, for it is read as soon as it is there
  await until(() => existsSync(at('gone')))
  t.not(readFileSync(proofFile, 'utf8'), before, 'it has written')
  t.match(await must(service, 'GET', `${path}/proof/${proof.id}`), { verified: false })
  const problemsOf = async () => (await must(service, 'GET', path)).problems
  t.match(await problemsOf(), [
    {
      code: 'changed_during_run',
      message:
        /^this proof was changed from .* in the file while processes live that a session may have left behind \(\d+ late-writer\), so the change is ignored\./,
    },
  ])
  t.match(await must(service, 'GET', `${path}/gate`), { open: false, verified: 0 })

  t.test('also after a restart', async (t) => {
    await service.restart()
    t.match(await problemsOf(), [{ message: /\(\d+ late-writer\)/ }])
    t.match(await must(service, 'GET', `${path}/proof/${proof.id}`), { verified: false })
  })

  t.test('when it has ended, edits count again, and this one once it is confirmed', async (t) => {
    writeFileSync(at('stop'), '')
    let problems = await problemsOf()
    const end = performance.now() + 20_000
    while (/late-writer/.test(JSON.stringify(problems)) && performance.now() < end) {
      await delay(100)
      problems = await problemsOf()
    }
    t.match(problems, [{ code: 'changed_during_run', message: /while a session executed/ }])
    await must(service, 'PUT', `${path}/proof/${proof.id}/verify`)
    t.match(await must(service, 'GET', `${path}/proof/${proof.id}`), { verified: true })
    t.strictSame(await problemsOf(), [])
  })
})

const TAP = "printf '1..1\\nok 1 - a\\n'"

t.test('an artifact that was changed after its step is not proof', async (t) => {
  const service = await openTestService(t, { files: { 'a.txt': 'one\n' } })
  committed(service.root)
  const { ref, session } = await ran(
    service,
    `${step('echo two > a.txt', 'sh run id=edit')}\n\n${step(TAP, 'sh run id=test proof=tap')}`,
  )
  t.match(session, { state: 'complete', tests: { run: 1, passed: 1 } })
  const attach = (artifact: string) =>
    service.request('POST', `/cases/${ref.case_id}/proof`, { type: 'test', artifact })
  const names = ['1-test.tap', '1-test.log', '1-changes.patch']
  for (const name of names) {
    const path = service.file(ref.case_id, `artifacts/${name}`)
    const before = readFileSync(path)
    writeFileSync(path, '1..2\nok 1 - a\nok 2 - b\n')
    const isCandidate = name !== '1-test.log'
    t.match(await attach(name), {
      status: 400,
      json: {
        detail: isCandidate
          ? `artifacts/${name} is not what its step left: something changed it afterwards, so it does not count. Run the session again, or attach what you saw as text.`
          : /is not a proof candidate/,
      },
    })
    writeFileSync(path, before)
    t.equal((await attach(name)).status, isCandidate ? 201 : 400, `${name}, as it was`)
  }
})

t.test('a step cannot put a report in the place of that of another one', async (t) => {
  const service = await openTestService(t, { mount: false })
  const forger = `(setsid sh -c '
    until grep -q "step_finished step=te[s]t" "$1"/sessions/1.md; do sleep 0.02; done
    printf "1..2\\nok 1 - a\\nok 2 - b\\n" > "$1"/artifacts/1-test.tap
    touch forged' x memory/cases/* > /dev/null 2>&1 &)`
  const steps = [
    step(forger, 'sh run id=forge'),
    step(TAP, 'sh run id=test proof=tap'),
    step('until [ -e forged ]; do sleep 0.02; done', 'sh run id=wait'),
  ]
  const { session } = await ran(service, steps.join('\n\n'))
  t.match(session, { state: 'complete', tests: null })
  t.match(session.output, /\[artifacts\/1-test\.tap is not what its step left/)
  t.notMatch(JSON.stringify(session.candidates), '1-test')
})

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 20_000
  while (!isSo() && performance.now() < end) await delay(50)
}
