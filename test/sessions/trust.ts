import {
  appendFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { inLongLane } from '../fixtures/full.ts'
import {
  type Client,
  finished,
  must,
  planned,
  type Ref,
  stream,
} from '../fixtures/session-client.ts'
import { printedBy } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

/** The session at the end of its stream. */
async function ended(client: Client, ref: Ref) {
  await (await stream(client, ref)).closed
  return must(client, 'GET', ref.path)
}

const run = (script: string) => `\`\`\`sh run id=a\n${script}\n\`\`\``
const NOW = '2026-11-20T10:00:00.000Z'

const service = await openTestService(t, { mount: false })

t.test(
  'a plan that changes while it is approved runs only if it is the approved one',
  async (t) => {
    const [first, second] = [run('echo first'), run('echo second')]
    let refused = 0
    for (let round = 0; round < 2; round++) {
      const ref = await planned(service, { runbook: first })
      const file = service.file(ref.case_id, 'sessions', '1.md')
      const saved = readFileSync(file, 'utf8').replace('echo first', 'echo second')
      const sent = round % 2 === 0 ? { plan_sha256: sha256(second) } : undefined
      const answer = service.request('POST', `${ref.path}/approve`, sent)
      await new Promise((resolve) => setTimeout(resolve, round * 2)) // at every moment of the request
      writeFileSync(file, saved)
      if ((await answer).status !== 200) {
        refused++
        continue
      }
      const session = await ended(service, ref)
      const wanted = sent ? 'second' : /echo (\w+)/.exec(session.plan)![1]!
      t.match(`\n${printedBy(service, ref)}`, `\n${wanted}\n`, 'what was approved is what ran')
      t.match(session, { plan_sha256: sha256(run(`echo ${wanted}`)), problems: { length: 0 } })
    }
    t.comment(`${refused} of 2 were refused`)
  },
)

t.test('what is appended to a journal moves no session', async (t) => {
  const ref = await planned(service, { runbook: run('echo hi > made.txt') })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  appendFileSync(file, `999999999. ${NOW} session_state_changed new_state=complete\n`)
  t.match(await must(service, 'GET', ref.path), {
    state: 'plan_ready',
    problems: [{ code: 'trail_changed' }],
  })
  writeFileSync(file, text)
  await must(service, 'POST', `${ref.path}/abandon`)
  const number = Number(/(\d+)\. \S+ session_sealed/.exec(readFileSync(file, 'utf8'))![1]) + 1
  appendFileSync(
    file,
    `${number}. ${NOW} session_state_changed old_state=abandoned new_state=plan_ready\n`,
  )
  const json = await must(service, 'GET', ref.path)
  t.match(json, { state: 'abandoned', problems: [{ code: 'session_changed' }] }, 'it is sealed')
  t.equal((await service.request('POST', `${ref.path}/approve`)).status, 422)
  t.notOk(existsSync(join(service.root, 'made.txt')))
})

t.test('what is written by hand takes the power to run away, and opens nothing', async (t) => {
  const ref = await planned(service, { runbook: run('echo hi') })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const plan = readFileSync(file, 'utf8')
  writeFileSync(file, plan.replace('state: plan_ready', 'state: abandoned'))
  t.match(await must(service, 'GET', ref.path), { state: 'abandoned' })
  t.equal((await service.request('POST', `${ref.path}/approve`)).status, 422)
  writeFileSync(file, plan)
  await finished(service, ref)
  const good = readFileSync(file, 'utf8')
  writeFileSync(file, good.replace('---\n', '---\nid: twice\nid: twice\n'))
  const proof = `/cases/${ref.case_id}/proof`
  const body = { type: 'log', content: 'x', session_id: ref.id }
  t.equal((await service.request('POST', proof, body)).status, 409)
  t.strictSame(await must(service, 'GET', proof), [], 'a refused request leaves nothing behind')
})

t.test('what would be too large to be read again is not written', inLongLane, async (t) => {
  const { id } = await service.newCase()
  const file = service.file(id, 'case.md')
  appendFileSync(file, `\n${'x'.repeat(256 * 1024 - 800 - readFileSync(file).length)}\n`)
  const add = (letter: string) => {
    const item = { description: letter.repeat(480), type: 'log' }
    return service.request('POST', `/cases/${id}/proof/checklist`, item)
  }
  t.match(await add('y'), { status: 201, json: { description: 'y'.repeat(480) } })
  t.equal((await add('z')).status, 413)
  t.strictSame((await service.request('GET', `/cases/${id}`)).json.problems, [])
  const backticks = {
    type: 'log',
    content: `${'`'.repeat(6 * 1024 * 1024)}\n${'~'.repeat(4 * 1024 * 1024 - 1)}`,
  }
  t.equal((await service.request('POST', `/cases/${id}/proof`, backticks)).status, 413)
  t.strictSame((await service.request('GET', `/cases/${id}/proof`)).json, [])
})

t.test('an empty case.md is a file being saved, not a case without a title', async (t) => {
  const { id } = await service.newCase({ title: 'Precious', description: 'Words' })
  const file = service.file(id, 'case.md')
  const saved = readFileSync(file, 'utf8')
  writeFileSync(file, '')
  const { json } = await service.request('GET', `/cases/${id}`)
  t.match(json, { title: 'Precious', description: 'Words', problems: [{ code: 'unreadable' }] })
  t.equal((await service.request('PUT', `/cases/${id}`, { type: 'feature' })).status, 409)
  writeFileSync(file, saved)
  t.equal((await service.request('PUT', `/cases/${id}/memory/case.md`, '')).status, 422)
  t.strictSame((await service.request('GET', `/cases/${id}`)).json.problems, [])
})

t.test('latest.md names the newest session, whatever brought it', async (t) => {
  // or the service takes a session by hand just as it is deleted again, which is logged
  const service = await openTestService(t, { mount: false, limits: { handEdit: 60_000 } })
  const ref = await planned(service, { runbook: run('echo hi') })
  const file = (name: string) => service.file(ref.case_id, 'sessions', name)
  const leadsTo = async (target: string | null, why: string) => {
    const end = Date.now() + 120_000
    const now = () => {
      const isThere = lstatSync(file('latest.md'), { throwIfNoEntry: false })
      return isThere ? readlinkSync(file('latest.md')) : null
    }
    while (now() !== target && Date.now() < end) await new Promise((r) => setTimeout(r, 20))
    t.equal(now(), target, why)
  }
  t.equal(readlinkSync(file('latest.md')), '1.md', 'a request')
  const { length } = service.log
  rmSync(file('latest.md'))
  await leadsTo('1.md', 'it was removed')
  writeFileSync(file('2.md'), '# Session 2: planning\n\nstate: plan_ready\n\n## Plan\n\nx\n')
  await leadsTo('2.md', 'a session by hand')
  const shown = await service.request('GET', `/cases/${ref.case_id}/memory/latest.md`)
  t.match(shown.text, /^# Session 2/)
  rmSync(file('2.md'))
  await leadsTo('1.md', 'its deletion')
  await service.close()
  rmSync(file('latest.md'))
  await service.restart()
  await leadsTo('1.md', 'a start')
  await service.close()
  rmSync(file('latest.md'))
  symlinkSync('9.md', file('latest.md'))
  await service.restart()
  await leadsTo('1.md', 'a start that finds it dangling')
  const text = readFileSync(file('1.md'))
  rmSync(file('1.md'))
  await leadsTo(null, 'no session is left')
  writeFileSync(file('1.md'), text)
  await leadsTo('1.md', 'and it is back')
  t.strictSame(service.log.slice(length), [])
})
