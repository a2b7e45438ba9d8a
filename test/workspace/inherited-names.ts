// What every object of JavaScript has by its names is nothing in a file or request: no state, no type,
// no provider, no setting, no proof (RELIABILITY.md YM-6).
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newSessionText } from '../../src/markdown/session-texts.ts'
import { inLongLane } from '../fixtures/full.ts'
import { SESSION } from '../fixtures/records.ts'
import { openTestService } from '../fixtures/workspace.ts'

const NAMES = ['constructor', '__proto__', 'hasOwnProperty', 'length']

const caseText = (fields: string, rest = '') => `---\ntitle: A\n${fields}\n---\n\nText\n${rest}`
const ids = { state: '', key: '', gate: '', words: '', session: '', trail: '', proof: '' }

/** The cases that have the name in one place each, with the ids that they get. */
async function casesOf(name: string) {
  const id = Object.fromEntries(Object.keys(ids).map((key) => [key, randomUUID()])) as typeof ids
  const gated = `\n## Proof checklist\n\n- [x] It is (${name}, required)\n`
  const session = { ...SESSION, number: 1, case_id: id.session, id: id.session }
  const worded = (await newSessionText(session))
    .replace(/^state: .*/m, `state: ${name}`)
    .replace(/^session_type: .*/m, `session_type: ${name}`)
    .replace(/^provider: .*/m, `provider: ${name}`)
  const ofTrail = { ...session, case_id: id.trail, id: id.trail, state: 'created' } as const
  const trailed = (await newSessionText(ofTrail))
    .replace(/new_state=planning/, `new_state=${name} ${name}=${name}`)
    .trimEnd()
  const proof = `---\ntype: ${name}\nverified: ${name}\nsha256: ${name}\n---\n\n\`\`\`${name}\nx\n\`\`\`\n`
  const files = {
    [id.state]: { 'case.md': caseText(`state: ${name}`) },
    [id.key]: { 'case.md': caseText(`${name}: { state: RESOLVED }`) },
    [id.gate]: { 'case.md': caseText('state: RESOLVED', gated) },
    [id.words]: { 'case.md': caseText(`outcome: ${name}\ntype: ${name}\nparent: ${name}`) },
    [id.session]: {
      'case.md': caseText('state: OPEN'),
      sessions: { '1.md': worded },
    },
    [id.trail]: {
      'case.md': caseText('state: OPEN'),
      sessions: { '1.md': `${trailed}\n3. 2026-11-20T09:54:01.000Z ${name} ${name}=1\n` },
    },
    [id.proof]: { 'case.md': caseText('state: RESOLVED'), proof: { [`${id.proof}.md`]: proof } },
  }
  return { name, id, files }
}

t.test('in files', inLongLane, async (t) => {
  const all = await Promise.all(NAMES.map(casesOf))
  const cases = Object.assign({}, ...all.map(({ files }) => files))
  const app = await openTestService(t, { files: { memory: { cases } } })
  const get = async (path: string) => {
    const answer = await app.request('GET', path)
    t.ok(answer.status < 500, `${path}: ${answer.text}`)
    return answer.json
  }
  const listed = (await get('/cases')) as { id: string; state: string }[]
  t.equal(listed.length, NAMES.length * Object.keys(ids).length)
  t.strictSame([...new Set(listed.map(({ state }) => state))].sort(), ['OPEN', 'VERIFYING'])
  for (const { name, id } of all) {
    await t.test(name, async (t) => {
      t.match(await get(`/cases/${id.state}`), {
        title: 'A',
        state: 'OPEN',
        problems: [{ code: 'unknown_state', line: 3 }],
      })
      t.equal((await get(`/cases/${id.key}`)).state, 'OPEN', 'no field')
      t.equal((await get(`/cases/${id.gate}`)).state, 'VERIFYING', 'no proof of that type')
      t.match(await get(`/cases/${id.gate}/gate`), { open: false })
      t.equal((await get(`/cases/${id.words}`)).state, 'OPEN')
      t.match(await get(`/cases/${id.proof}`), { state: 'VERIFYING' })
      const { verified = false } = await get(`/cases/${id.proof}/proof/${id.proof}`)
      t.equal(verified, false)
      t.match(await get(`/cases/${id.proof}/gate`), { open: false })

      const { problems } = await get(`/cases/${id.session}`)
      const said = problems.map(({ code, message }: Record<string, string>) => [code, message])
      t.match(said.slice(0, 3), [
        ['unknown_state', `state: ${name} is not one of created`],
        ['state_by_hand', `state: ${name} was written by hand; the session is planning`],
        ['field_by_hand', `session_type: ${name} was written by hand`],
      ])
      t.strictSame(await get(`/cases/${id.session}/sessions`), [])
      // an event and fields of that name move nothing
      const [session, ...others] = await get(`/cases/${id.trail}/sessions`)
      t.strictSame(others, [])
      t.match(session, { id: id.trail, state: 'created' })
      const path = `/cases/${id.trail}/sessions/${id.trail}`
      for (const action of ['approve', 'revise']) {
        const { status } = await app.request('POST', `${path}/${action}`, { note: 'x' })
        t.equal(status, 422, action)
      }
      for (const page of [`/case/${id.session}`, `/case/${id.state}`, `/case/${id.words}`])
        await get(page)
    })
  }
  for (const name of ['constructor', '__proto__']) {
    for (const settings of [
      `${name}: x`,
      `provider: ${name}`,
      `timeout: { ${name}: 1m }`,
      `providers: { ${name}: { kind: ${name}, plan: [x] } }`,
      `providers: { mine: { preset: ${name} } }`,
      `providers: { mine: { kind: command, plan: [x], prompt: ${name}, stream: ${name} } }`,
    ]) {
      writeFileSync(join(app.root, 'casefile.md'), `---\n${settings}\n---\n`)
      t.equal((await get('/health')).status, 'ok', settings)
      for (const provider of [name, 'mine']) {
        const wanted = { type: 'planning', provider }
        const begun = await app.request('POST', `/cases/${all[0]!.id.words}/sessions`, wanted)
        t.match(String(begun.status), /^4/, `${settings}: ${begun.text}`)
      }
    }
  }
  t.equal(({} as Record<string, unknown>).polluted, undefined)
  t.notMatch(app.log.join('\n'), /\n\s+at /, 'nothing unexpected happened')
})

t.test('in requests', async (t) => {
  const app = await openTestService(t, { dev: true })
  const { id } = await app.newCase()
  for (const name of NAMES) {
    const asked: [method: string, path: string, body?: object | string][] = [
      ['POST', '/cases', `{"title":"x","${name}":{"polluted":1},"type":{"${name}":1}}`],
      ['POST', '/cases', { title: 'x', state: name, outcome: name }],
      ['PUT', `/cases/${id}`, { parent: name, provider: name }],
      ['PUT', `/cases/${id}/state`, { state: name }],
      ['POST', `/cases/${id}/sessions`, { type: name }],
      ['POST', `/cases/${id}/sessions`, { type: 'planning', provider: name }],
      ['POST', '/webhooks', { url: 'http://127.0.0.1:2/', events: [name] }],
      ['POST', `/cases/${id}/proof`, { type: 'log', content: 'x', session_id: name }],
      ['POST', `/cases/${id}/proof`, { type: 'log', artifact: name }],
      ['GET', `/cases/${id}/${name}`],
      ['GET', `/${name}`],
      ['GET', `/cases/${name}`],
      ['GET', `/cases/${id}/memory/${name}`],
      ['GET', `/webhooks/${name}`],
      ['POST', `/providers/${name}/run`, { prompt: 'x' }],
    ]
    for (const [method, path, body] of asked) {
      const headers = { 'content-type': 'application/json' }
      const { status, text } = await app.request(method, path, body, headers)
      t.ok(
        (status >= 400 && status < 500) || status === 201,
        `${method} ${path}: ${status} ${text}`,
      )
      if (status === 201) t.equal(JSON.parse(text).state, 'OPEN')
    }
  }
  t.equal(({} as Record<string, unknown>).polluted, undefined)
  t.notMatch(app.log.join('\n'), /\n\s+at /, 'nothing unexpected happened')
})
