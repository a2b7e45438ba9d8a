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
import { inLongLane } from '../fixtures/full.ts'
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

t.test(
  'what outlives its run without mounts cannot change what counts',
  { ...linuxOnly, ...inLongLane },
  async (t) => {
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

    t.test(
      'when it has ended, this one counts once it is confirmed, and edits do again',
      async (t) => {
        writeFileSync(at('stop'), '')
        await until(() => leftProcesses(0).every((each) => each.name !== 'late-writer'))
        await must(service, 'PUT', `${path}/proof/${proof.id}/verify`)
        await service.service.runGuard.idle()
        t.match(await must(service, 'GET', `${path}/proof/${proof.id}`), { verified: true })
        t.strictSame(await problemsOf(), [])
        const verified = readFileSync(proofFile, 'utf8')
        writeFileSync(proofFile, verified.replace('verified: true', 'verified: false'))
        t.match(await must(service, 'GET', `${path}/proof/${proof.id}`), { verified: false })
        writeFileSync(proofFile, verified)
        t.match(await must(service, 'GET', `${path}/proof/${proof.id}`), { verified: true })
      },
    )
  },
)

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 120_000
  while (!isSo() && performance.now() < end) await delay(50)
}
