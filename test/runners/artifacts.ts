import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listArtifacts } from '../../src/runners/output/artifact-listing.ts'
import { artifactsOf, renameArtifacts } from '../../src/runners/output/artifact-renaming.ts'
import {
  createArtifact,
  dropArtifact,
  isArtifactOf,
  readArtifact,
} from '../../src/runners/output/artifacts.ts'
import { layoutOf } from '../../src/workspace/layout.ts'

const ID = '9d1e3b52-6a0f-4a53-9b57-0c4c4f1d2a10'

t.test('the artifacts of a session, beside those of others', async (t) => {
  const root = t.testdir({ memory: { cases: { [ID]: {} } }, outside: 'secret' })
  const layout = layoutOf(root, join(root, 'memory'))
  const folder = layout.artifacts(ID)
  const add = (name: string, text = name) => createArtifact(layout, ID, name, text)
  for (const name of ['1-a.log', '12-b.log', '2-c.tap']) await add(name)
  const namesOf = async (number: number) =>
    (await listArtifacts(layout, ID, number)).map(({ artifact, size }) => `${artifact} ${size}`)
  t.strictSame(await namesOf(1), ['1-a.log 7'], 'and none of session 12')
  t.strictSame(await namesOf(12), ['12-b.log 8'])
  t.strictSame(await artifactsOf(layout, ID, 1), ['1-a.log'])
  await t.rejects(add('1-a.log'), { code: 'already_exists' }, 'nothing is overwritten')

  symlinkSync('../../../../outside', join(folder, '1-link.log'))
  mkdirSync(join(folder, '1-folder'))
  t.strictSame(await namesOf(1), ['1-a.log 7'], 'only files')
  await t.rejects(readArtifact(layout, ID, '1-link.log'), { code: 'bad_request' })
  t.equal(await readArtifact(layout, ID, '1-a.log'), '1-a.log')
  t.equal(await readArtifact(layout, ID, '1-none.log'), null)
  await t.rejects(readArtifact(layout, ID, '1-a.log', 6), { message: /cannot be read/ })
  writeFileSync(join(folder, '1-bytes.log'), Buffer.from([0x61, 0xff]))
  await t.rejects(readArtifact(layout, ID, '1-bytes.log'), { message: /is not UTF-8 text/ })
  t.equal(await readArtifact(layout, ID, '1-bytes.log', 100, true), 'a\ufffd')
  for (const name of [
    '../case.md',
    '1-../x',
    '0-a',
    '1-',
    '1-.x',
    'a',
    '1-a/b',
    `1-${'a'.repeat(82)}`,
  ])
    await t.rejects(readArtifact(layout, ID, name), { code: 'bad_request' }, name)
  t.notOk(isArtifactOf('12-b.log', 1))

  await dropArtifact(layout, ID, '1-bytes.log')
  await dropArtifact(layout, ID, '1-folder')
  await dropArtifact(layout, ID, '1-none.log')
  t.strictSame(await artifactsOf(layout, ID, 1), ['1-a.log', '1-folder', '1-link.log'])

  t.strictSame(await renameArtifacts(layout, ID, 2, 12), [], 'a number that is taken')
  t.strictSame(await renameArtifacts(layout, ID, 12, 3), ['3-b.log'])
  t.equal(readFileSync(join(folder, '3-b.log'), 'utf8'), '12-b.log')
  t.strictSame(await artifactsOf(layout, ID, 12), [])
  t.strictSame(await renameArtifacts(layout, ID, 7, 8), [])
})
