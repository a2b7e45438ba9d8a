import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { MAX_PICTURE_BYTES } from '../../src/model/picture.ts'
import { HEADS, pngOf } from '../fixtures/pictures.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const PNG = pngOf(40, 30)
const OTHER = pngOf(40, 30, [179, 38, 30])
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const send = (
  app: TestService,
  id: string,
  bytes: Uint8Array,
  { type = 'image/png', query = '' } = {},
) => app.request('POST', `/cases/${id}/proof${query}`, bytes, { 'content-type': type })

const shared = await openTestService(t)

async function attached(app = shared) {
  const { id } = await app.newCase()
  const { json: proof } = await send(app, id, PNG)
  const path = `/cases/${id}/proof/${proof.id}`
  const file = app.file(id, 'artifacts', `${proof.id}.png`)
  const problems = async () => (await app.request('GET', `/cases/${id}`)).json.problems
  const now = async () => (await app.request('GET', path)).json
  return { app, id, proof, path, file, problems, now }
}

t.test('a picture is attached as the body, and kept as it was sent', async (t) => {
  const { app, id, proof, path, file } = await attached()
  t.match(proof, {
    type: 'screenshot',
    content: `Picture (PNG, 40 × 30 pixels, ${PNG.length} bytes): artifacts/${proof.id}.png`,
    sha256: sha256(PNG),
    tests: null,
    supports: true,
    verified: false,
    image: {
      type: 'image/png',
      width: 40,
      height: 30,
      bytes: PNG.length,
      url: `${path}/content`,
    },
  })
  t.strictSame(readFileSync(file), PNG)
  const text = readFileSync(app.file(id, 'proof', `${proof.id}.md`), 'utf8')
  t.match(text, `](../artifacts/${proof.id}.png)`, 'other programs show it')
  const { status, headers } = await app.request('GET', `${path}/content?v=1`)
  t.match(
    { status, headers },
    {
      status: 200,
      headers: {
        'content-type': 'image/png',
        'content-length': String(PNG.length),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
      },
    },
  )
  const again = { 'if-none-match': headers.etag! }
  t.equal((await app.request('GET', `${path}/content`, undefined, again)).status, 304)
  const { json } = await app.request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
  t.equal(json.image, null)
})

t.test('each kind of picture, and what is none', async (t) => {
  const app = shared
  const { id } = await app.newCase()
  for (const [type, bytes] of Object.entries(HEADS)) {
    const query = '?type=seen&session_id=none'
    const reply = await send(app, id, bytes, { type: type.toUpperCase(), query })
    t.match(reply, { status: 201, json: { type: 'seen', image: { type, width: 320 } } })
  }
  for (const [type, bytes, why] of [
    ['image/png', Buffer.from('hello'), /its bytes are not a PNG/],
    ['image/png', Buffer.alloc(0), /its bytes are not a PNG/],
    ['image/jpeg', PNG, /but it is image\/png/],
    ['image/svg+xml', Buffer.from('<svg/>'), /SVG is text/],
  ] as const) {
    const reply = await send(app, id, bytes, { type })
    t.match(reply, { status: 415, json: { detail: why, accept: /image\/png/ } }, type)
  }
  const large = Buffer.concat([PNG, Buffer.alloc(MAX_PICTURE_BYTES)])
  t.equal((await send(app, id, large)).status, 413)
  const odd = await send(app, id, PNG, { query: '?type=Not%20a%20word' })
  t.match(odd, { status: 400, json: { errors: [{ path: 'type' }] } })
  const nobody = '00000000-0000-4000-8000-000000000000'
  t.equal((await send(app, nobody, PNG)).status, 404)
  t.equal((await send(app, id, PNG, { query: `?session_id=${nobody}` })).status, 404)
  const left = readdirSync(app.file(id, 'artifacts'))
  t.equal(left.length, Object.keys(HEADS).length, 'nothing is left of the others')
})

t.test('a changed or missing picture counts as not verified', async (t) => {
  const { app, id, proof, path, file, problems, now } = await attached()
  const item = { description: 'Seen', type: 'screenshot', required: true }
  await app.request('POST', `/cases/${id}/proof/checklist`, item)
  t.match(await app.request('PUT', `${path}/verify`), { status: 200, json: { verified: true } })
  const gate = async () => (await app.request('GET', `/cases/${id}/gate`)).json
  t.match(await gate(), { open: true, items: [{ satisfied_by: proof.id }] })

  writeFileSync(file, OTHER)
  const changed = { code: 'proof_changed', file: `artifacts/${proof.id}.png`, message: /changed/ }
  t.match(await problems(), [changed])
  t.match(await now(), { verified: false, supports: false, why_not: /picture was changed/ })
  t.equal((await gate()).open, false)

  rmSync(file)
  t.match(await problems(), [{ code: 'proof_changed', message: /the picture is missing/ }])
  t.equal((await now()).verified, false)
  t.match(await app.request('GET', `${path}/content`), { status: 409 })
  t.match(await app.request('PUT', `${path}/verify`), { status: 409, json: { detail: /missing/ } })
  await app.restart()
  t.equal((await now()).verified, false, 'a restart knows it too')

  writeFileSync(file, PNG)
  t.strictSame(await problems(), [], 'it is as it was')
  t.equal((await now()).verified, true)
  t.equal((await gate()).open, true)

  writeFileSync(file, pngOf(20, 10))
  t.match(await app.request('PUT', `${path}/verify`), {
    status: 200,
    json: { verified: true, sha256: sha256(pngOf(20, 10)), image: { width: 20, height: 10 } },
  })
  writeFileSync(file, 'no picture')
  t.match(await app.request('PUT', `${path}/verify`), {
    status: 409,
    json: { detail: /no picture/ },
  })
})

t.test('a proof that a person wrote for a picture gets its hash', async (t) => {
  const { app, id, proof, file, problems } = await attached()
  const other = proof.id.replace(/^./, (first: string) => (first === 'a' ? 'b' : 'a'))
  const image = `image: { name: ${other}.png, type: image/png, width: 40, height: 30, bytes: 1 }`
  writeFileSync(file.replace(proof.id, other), PNG)
  const path = app.file(id, 'proof', `${other}.md`)
  writeFileSync(path, `---\ntype: screenshot\nverified: true\n${image}\n---\n`)
  const { json } = await app.request('GET', `/cases/${id}/proof/${other}`)
  t.match(json, { verified: true, sha256: sha256(PNG), image: { width: 40 } })
  const elsewhere = image.replace(other, proof.id)
  writeFileSync(path, `---\ntype: screenshot\n${elsewhere}\n---\n`)
  t.match(await problems(), [{ code: 'wrong_type', message: /image: expected/ }])
})

t.test('git takes the pictures of proofs, and no other artifact', async (t) => {
  const files = { memory: { '.gitignore': 'mine\nartifacts/\n*.bak\n' } }
  for (const [name, given] of [
    ['a new folder', {}],
    ['a folder of an older version', files],
  ] as const) {
    await t.test(name, async (t) => {
      const app = given === files ? await openTestService(t, { files }) : shared
      const { id, proof } = await attached(app)
      writeFileSync(app.file(id, 'artifacts/1-test.log'), 'ok')
      const git = (...args: string[]) => execFileSync('git', args, { cwd: app.memory }).toString()
      git('init', '--quiet')
      git('add', '.')
      const taken = git('ls-files')
        .split('\n')
        .filter((each) => each.includes(`${id}/artifacts`))
      t.strictSame(taken, [`cases/${id}/artifacts/${proof.id}.png`])
      const rules = readFileSync(join(app.memory, '.gitignore'), 'utf8')
      if (given === files) t.match(rules, /^mine\ncases.*\n!cases.*\n\*\.bak\n$/)
    })
  }
})

t.test('a picture goes with its proof: not without, and with its case', async (t) => {
  const { app, id } = await attached()
  rmSync(app.file(id, 'proof'), { recursive: true })
  writeFileSync(app.file(id, 'proof'), 'in the way')
  const before = readdirSync(app.file(id, 'artifacts'))
  t.equal((await send(app, id, OTHER)).status, 409)
  t.strictSame(readdirSync(app.file(id, 'artifacts')), before)
  t.equal((await app.request('DELETE', `/cases/${id}`)).status, 200)
  t.equal(existsSync(app.file(id)), false)
})

t.test('a picture without a proof is removed by doctor --fix, others are not', async (t) => {
  const { app, id, file } = await attached()
  const orphan = app.file(id, 'artifacts', '11111111-1111-4111-8111-111111111111.png')
  writeFileSync(orphan, PNG)
  const check = () =>
    checkWorkspace({ root: app.root, stateDir: app.stateDir, fix: true }, process.env)
  t.strictSame((await check()).fixed, [], 'it may be the picture of a proof that is being written')
  await app.close()
  const later = Date.now
  t.teardown(() => {
    Date.now = later
  })
  Date.now = () => later() + 120_000
  t.match((await check()).fixed, [/111\.png: removed this picture, because it has no proof/])
  t.strictSame([existsSync(orphan), existsSync(file)], [false, true])
})
