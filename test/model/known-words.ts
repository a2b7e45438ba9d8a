import { readFileSync } from 'node:fs'
import t from 'tap'
import { FILE_KEYS, SETTABLE } from '../../src/model/case-fields.ts'
import { OUTCOME, SLUG } from '../../src/model/name-patterns.ts'
import {
  KNOWN_CASE_TYPES,
  KNOWN_OUTCOMES,
  KNOWN_PROOF_TYPES,
} from '../../src/model/suggested-values.ts'

const lists = {
  outcomes: KNOWN_OUTCOMES,
  'types of cases': KNOWN_CASE_TYPES,
  'types of proof': KNOWN_PROOF_TYPES,
}

t.test('docs/api.md lists the known words', async (t) => {
  const api = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
  for (const [name, words] of Object.entries(lists))
    t.match(api.replace(/\s+/g, ' '), `: ${words.join(', ')}, or `, name)
})

t.test('the pages of docs/ have each field of a case', async (t) => {
  const files = readFileSync(new URL('../../docs/files.md', import.meta.url), 'utf8')
  const api = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
  const [, keys] = /The fields, in the order .*?--- \| ---\n((?:`.*\n)+)/s.exec(files)!
  const rows = [...keys!.matchAll(/^`(\w+)` \|/gm)].map(([, name]) => name)
  t.strictSame(rows, FILE_KEYS, 'in files.md')
  const [, settable = ''] = /^You can set (.*?);/ms.exec(api) ?? []
  for (const { name } of SETTABLE) t.match(settable, `\`${name}\``, `${name} in api.md`)
})

t.test('each has the form that a word of its kind must have', async (t) => {
  for (const outcome of KNOWN_OUTCOMES) t.match(outcome, OUTCOME)
  for (const type of [...KNOWN_CASE_TYPES, ...KNOWN_PROOF_TYPES]) t.match(type, SLUG)
})
