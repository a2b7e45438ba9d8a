import t from 'tap'
import { newCaseText } from '../../../src/markdown/case-file.ts'
import { modeOf } from '../../../src/markdown/merging/folder.ts'
import { useParser } from '../../../src/markdown/parser-pool.ts'
import { newProofText } from '../../../src/markdown/proof-file.ts'
import { COPY, type Files, merged } from '../../fixtures/merge-folder.ts'
import { CASE, PROOF } from '../../fixtures/records.ts'

t.teardown(useParser())

const item = (description: string, checked = false) => ({
  description,
  type: 'test-log',
  required: true,
  checked,
})
const base = await newCaseText({
  ...CASE,
  description: 'One.\n\nTwo.\n\nThree.',
  checklist: [item('First'), item('Second')],
})

/** Merges one file of the case folder. */
async function file(name: string, base: string | null, ours: string, theirs: string) {
  const before: Files = base === null ? {} : { [name]: base }
  const { texts, copies } = await merged({
    base: before,
    ours: { [name]: ours },
    theirs: { [name]: theirs },
  })
  return { text: texts[name]!, copies, texts }
}

t.test('fields of a case merge by key, also neighbours', async (t) => {
  const ours = base.replace('type: bug', 'type: feature').replace('state: OPEN', 'state: PLANNING')
  const theirs = base
    .replace('outcome:', 'outcome: FeatureShipped')
    .replace(/^title:.*/m, 'title: New')
  const { text, copies } = await file('case.md', base, ours, theirs)
  for (const line of ['type: feature', 'state: PLANNING', 'outcome: FeatureShipped', 'title: New'])
    t.match(text, `\n${line}\n`)
  t.strictSame(copies, [])
})

t.test('tags merge as a set', async (t) => {
  const ours = base.replace('tags: [auth]', 'tags: [auth, slow]')
  const theirs = base.replace('tags: [auth]', 'tags: [login]')
  const { text, copies } = await file('case.md', base, ours, theirs)
  t.match(text, '\ntags: [slow, login]\n')
  t.strictSame(copies, [])
})

t.test('a field that both changed stays as ours, and theirs is a conflict copy', async (t) => {
  const ours = base.replace(/^title:.*/m, 'title: Ours')
  const theirs = base.replace(/^title:.*/m, 'title: Theirs').replace('type: bug', 'type: epic')
  const { text, copies, texts } = await file('case.md', base, ours, theirs)
  t.match(text, '\ntitle: Ours\n')
  t.match(text, '\ntype: epic\n', 'the rest is merged')
  t.strictSame(copies, [{ path: 'case.md', copy: `case.${COPY}.md` }])
  t.equal(texts[`case.${COPY}.md`], theirs)
})

t.test('a conflict of states takes reason and outcome from the same side', async (t) => {
  const ours = base.replace('state: OPEN', 'state: BLOCKED')
  const theirs = base
    .replace('state: OPEN', 'state: WONT_FIX')
    .replace('outcome:', 'outcome: WontFix')
  const { text, copies } = await file('case.md', base, ours, theirs)
  t.match(text, '\nstate: BLOCKED\n')
  t.match(text, '\noutcome:\n')
  t.equal(copies.length, 1)
})

t.test('a case that sessions of both sides moved on is as far as the further one', async (t) => {
  const at = (state: string) => base.replace('state: OPEN', `state: ${state}`)
  for (const [ours, theirs] of [
    ['PLANNING', 'IMPLEMENTING'],
    ['IMPLEMENTING', 'PLANNING'],
  ] as const) {
    const { text, copies } = await file('case.md', base, at(ours), at(theirs))
    t.equal(text, at('IMPLEMENTING'))
    t.strictSame(copies, [])
  }
  const back = await file('case.md', at('VERIFYING'), at('PLANNING'), at('IMPLEMENTING'))
  t.equal(back.copies.length, 1, 'a state that a person set back is one to look at')
})

t.test('checklist items merge by text', async (t) => {
  const [first, second] = [
    '- [ ] First (test-log, required)\n',
    '- [ ] Second (test-log, required)\n',
  ]
  const ours = base.replace(second, `${second.replace('[ ]', '[x]')}- [ ] Ours (log)\n`)
  const theirs = base
    .replace(first, '- [ ] Before (log)\n')
    .replace(second, `${second}- [ ] Theirs (log)\n`)
  const { text, copies } = await file('case.md', base, ours, theirs)
  const items = text.match(/^- \[.*/gm)
  t.strictSame(items?.toSorted(), [
    '- [ ] Before (log)',
    '- [ ] Ours (log)',
    '- [ ] Theirs (log)',
    '- [x] Second (test-log, required)',
  ])
  t.strictSame(copies, [])
  t.match(text, 'One.\n\nTwo.\n\nThree.\n\n## Proof checklist\n\n- [ ] Before')
})

t.test('an item that one side ticked and the other removed stays', async (t) => {
  const line = '- [ ] Second (test-log, required)\n'
  const { text } = await file(
    'case.md',
    base,
    base.replace(line, ''),
    base.replace(line, line.replace('[ ]', '[x]')),
  )
  t.match(text, '- [x] Second (test-log, required)\n')
})

t.test('both sides add the first item, and change the description', async (t) => {
  const bare = await newCaseText({ ...CASE, description: 'One.\n\nTwo.', checklist: [] })
  const ours = await newCaseText({
    ...CASE,
    description: 'One!\n\nTwo.',
    checklist: [item('Ours')],
  })
  const theirs = await newCaseText({
    ...CASE,
    description: 'One.\n\nTwo!',
    checklist: [item('Theirs')],
  })
  const { text, copies } = await file('case.md', bare, ours, theirs)
  t.strictSame(copies, [])
  t.equal(
    text,
    await newCaseText({
      ...CASE,
      description: 'One!\n\nTwo!',
      checklist: [item('Theirs'), item('Ours')],
    }),
  )
})

t.test('CRLF and a byte order mark stay', async (t) => {
  const crlf = (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}`
  const ours = crlf(base.replace('One.', 'One!'))
  const theirs = crlf(
    base.replace('- [ ] First', '- [x] First').replace(/^title:.*/m, 'title: New'),
  )
  const { text, copies } = await file('case.md', crlf(base), ours, theirs)
  t.strictSame(copies, [])
  const wanted = base
    .replace('One.', 'One!')
    .replace('- [ ] First', '- [x] First')
    .replace(/^title:.*/m, 'title: New')
  t.equal(text, crlf(wanted))
})

t.test('a merge that would hide an item keeps ours whole', async (t) => {
  const ours = base.replace('One.', '<!-- One.')
  const theirs = base.replace('Three.', 'Three. -->').replace('- [ ] First', '- [x] First')
  const { text, copies } = await file('case.md', base, ours, theirs)
  t.ok(copies.length === 1 || text.includes('-->'))
})

t.test('histories get the lines of both in order of time', async (t) => {
  const line = (time: string, what: string) => `- 2026-11-20T${time}:00.000Z · Ada · ${what}\n`
  const head = `# History\n\n${line('09:00', 'created')}`
  const ours = `${head}${line('10:00', 'ours')}${line('12:00', 'ours late')}`
  const theirs = `${head}- a note of theirs\n${line('11:00', 'theirs')}  more of it\n${line('12:00', 'ours late')}`
  const { text, copies } = await file('history.md', head, ours, theirs)
  t.strictSame(copies, [])
  t.equal(
    text,
    `${head}- a note of theirs\n${line('10:00', 'ours')}${line('11:00', 'theirs')}  more of it\n${line('12:00', 'ours late')}`,
  )
})

t.test('an act keeps its text, also where another act has the same', async (t) => {
  const act = (who: string) =>
    `- 2026-11-20T10:00:00.000Z · ${who} · OPEN → BLOCKED · Wai…\n  Waiting.\n`
  const head = '# History\n\n'
  const { text } = await file('history.md', head, head + act('Ada'), head + act('Bob'))
  t.equal(text, head + act('Ada') + act('Bob'))
})

t.test('a line that a person removed from the history stays removed', async (t) => {
  const [head, secret] = [
    '# History\n\n- 2026-11-20T09:00:00.000Z · Ada · created\n',
    '- a password\n',
  ]
  const { text } = await file('history.md', head + secret, `${head}${secret}- ours\n`, head)
  t.equal(text, `${head}- ours\n`)
  const twice = await file(
    'history.md',
    head + secret.repeat(2),
    `${head}${secret.repeat(2)}- ours\n`,
    head + secret,
  )
  t.equal(twice.text, `${head}${secret}- ours\n`, 'one of two that are the same')
})

t.test('notes merge by lines, and keep what both appended', async (t) => {
  const { text, copies } = await file(
    'notes.md',
    '# Notes\n',
    '# Notes\n\nours\n',
    '# Notes\n\ntheirs\n',
  )
  t.strictSame(copies, [])
  t.equal(text, '# Notes\n\ntheirs\n\nours\n')
  const both = await file('notes.md', 'a\nb\n', 'A\nb\n', 'a!\nb\n')
  t.equal(both.text, 'A\nb\n')
  t.equal(both.texts[`notes.${COPY}.md`], 'a!\nb\n')
})

t.test('a proof merges by keys only if both have the same content', async (t) => {
  const proof = { ...PROOF, id: '7d0e6f8a-0000-4000-8000-000000000001' }
  const name = `proof/${proof.id}.md`
  const text = newProofText(proof, 'passed\n')
  const verified = (time: string) =>
    newProofText(
      { ...proof, verified: true, verified_at: time, verified_by: `Who at ${time}` },
      'passed\n',
    )
  const [early, late] = ['2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z']
  const both = await file(name, text, verified(late), verified(early))
  t.equal(both.text, verified(early))
  t.strictSame(both.copies, [])
  const same = newProofText({ ...proof, sha256: 'y', verified: true }, 'passed\n')
  const hashes = await file(name, text, verified(late), same)
  t.equal(hashes.text, verified(late), 'nor of another hash')
  t.equal(hashes.copies.length, 1)
  const other = newProofText({ ...proof, sha256: 'y' }, 'failed\n')
  const changed = await file(name, text, verified(late), other)
  t.equal(changed.text, verified(late), 'a verification is not said of other content')
  t.equal(changed.texts[`${name.slice(0, -3)}.${COPY}.md`], other)
})

t.test('bytes that are not UTF-8, pictures and links stay whole', async (t) => {
  const bytes = (end: number) => Buffer.from([0xff, 0xfe, 0x00, end])
  const { files, copies } = await merged({
    base: { 'notes.md': bytes(1), 'artifacts/p.png': bytes(1), 'sessions/latest.md': '-> 1.md' },
    ours: { 'notes.md': bytes(2), 'artifacts/p.png': bytes(2), 'sessions/latest.md': '-> 2.md' },
    theirs: { 'notes.md': bytes(3), 'artifacts/p.png': bytes(3), 'sessions/latest.md': '-> 3.md' },
  })
  const read = async (path: string) => {
    const file = files.get(path)!
    return Buffer.from('bytes' in file ? file.bytes : await file.read())
  }
  t.strictSame(copies.map(({ copy }) => copy).toSorted(), [`notes.${COPY}.md`, `p.${COPY}.png`])
  t.strictSame(await read('notes.md'), bytes(2))
  t.strictSame(await read(`notes.${COPY}.md`), bytes(3))
  t.strictSame(await read(`p.${COPY}.png`), bytes(3))
  t.equal(files.get('sessions/latest.md')?.mode, '120000')
})

t.test('a case that one side deleted and the other changed stays whole', async (t) => {
  const files = { 'case.md': base, 'notes.md': 'a\n' }
  const changed = { ...files, 'notes.md': 'b\n' }
  t.strictSame((await merged({ base: files, ours: {}, theirs: changed })).texts, changed)
  t.strictSame((await merged({ base: files, ours: changed, theirs: {} })).texts, changed)
  t.strictSame((await merged({ base: files, ours: files, theirs: {} })).texts, {})
})

t.test('what kind of file a new one is decides how two are merged', async (t) => {
  const both = async (name: string, ours: string, theirs: string) => {
    const { text, texts } = await file(name, null, ours, theirs)
    return [text, ...Object.keys(texts).filter((path) => path !== name)]
  }
  t.strictSame(await both('runbook.md', 'a\n', 'b\n'), ['a\n', `runbook.${COPY}.md`])
  t.strictSame(await both('notes.md', 'a\n', 'b\n'), ['b\na\n'])
  t.strictSame(await both('notes.md', '---\na: 1\n---\n', 'b\n'), [
    '---\na: 1\n---\n',
    `notes.${COPY}.md`,
  ])
  for (const name of ['.gitignore', '.gitattributes'])
    t.strictSame((await both(name, 'a\n', 'b\n')).length, 1, name)
  t.strictSame(await both('x/a.txt', 'a\n', 'b\n'), ['a\n', `a.${COPY}.txt`])
  const derived = await both('index.md', 'a\n', 'b\n')
  t.strictSame(derived, ['a\n'], 'what is made again needs no copy')
})

t.test('a change of the mode stays, on whichever side', async (t) => {
  const at = (mode: string) => ({ mode: `100${mode}`, id: '', read: async () => Buffer.from('') })
  const mode = (base: string, ours: string, theirs: string) =>
    modeOf({ base: at(base), ours: at(ours), theirs: at(theirs) })
  t.equal(mode('644', '644', '755'), '100755')
  t.equal(mode('644', '755', '644'), '100755')
  t.equal(mode('755', '644', '755'), '100644')
  t.equal(modeOf({ theirs: at('755') }), '100755')
})

t.test('names that differ in case, or are a folder too', async (t) => {
  const { texts } = await merged({
    base: {},
    ours: { 'Notes.md': 'ours', 'x.md': 'file' },
    theirs: { 'notes.md': 'theirs', 'x.md/y.md': 'inside' },
  })
  t.strictSame(texts, {
    'Notes.md': 'ours',
    [`Notes.${COPY}.md`]: 'theirs',
    'x.md/y.md': 'inside',
    [`x.${COPY}.md`]: 'file',
  })
})
