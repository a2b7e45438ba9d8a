import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { paintTexts } from '../../src/rendering/diff/decorate.ts'
import { HunksView } from '../../src/rendering/diff/hunks-view.tsx'
import { pairLines, piecesOf } from '../../src/rendering/diff/lines.tsx'
import { readPatch } from '../../src/rendering/diff/patch.ts'
import type { DiffHunk, FileDiff } from '../../src/rendering/diff/shape.ts'
import { type ShownDiff, showDiff, showFile } from '../../src/rendering/diff/shown-diff.ts'
import { diffTexts as diffWithin } from '../../src/rendering/diff/texts.ts'
import { DiffView } from '../../src/rendering/diff/view.tsx'
import { visibleText } from '../../src/rendering/hidden-characters.ts'
import { highlightCode } from '../../src/rendering/highlight/code.ts'

t.teardown(useParser())

/** No slow machine comes to the limit of time. */
const diffTexts: typeof diffWithin = (before, after, limits) =>
  diffWithin(before, after, { timeoutMs: 600_000, ...limits })

/** As in `-1 x`, `+1 y`, ` 2=2 z`. */
function linesOf(hunks: readonly DiffHunk[]): string[] {
  return hunks.flatMap(({ lines }) =>
    lines.map(({ kind, old, new: after, text, noNewline }) => {
      const at = [old, after].filter((line) => line !== null).join('=')
      return `${kind}${at} ${text}${noNewline ? '¬' : ''}`
    }),
  )
}

function brief({ file, from, status, binary, additions, deletions, notes }: FileDiff): string {
  const name = from === null ? file : `${from} → ${file}`
  const kind = binary ? `${status}, binary` : status
  return [`${name}: ${kind} +${additions} -${deletions}`, ...notes].join(' | ')
}

t.test("git's patch of all kinds of change", async (t) => {
  const patch = String.raw`diff --git a/bin b/bin
index bdc955b..8835708 100644
Binary files a/bin and b/bin differ
diff --git a/del.txt b/del.txt
deleted file mode 100644
index 286c5f5..0000000
--- a/del.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/mode.sh b/mode.sh
old mode 100644
new mode 100755
diff --git a/old.txt b/new b.txt
similarity index 85%
rename from old.txt
rename to new b.txt
index b414108..06e567b 100644
--- a/old.txt
+++ b/new b.txt	
@@ -4,3 +4,5 @@ fn main()
 4
 5
 6
+7
+8
@@ -20 +22,2 @@
 20

diff --git a/nonl b/nonl
index 1a9d148..7adf2e5 100644
--- a/nonl
+++ b/nonl
@@ -1 +1 @@
-nonl
\ No newline at end of file
+nonl2
\ No newline at end of file
diff --git a/q b/x b/q b/x
new file mode 100644
index 0000000..8ba3a16
--- /dev/null
+++ b/q b/x	
@@ -0,0 +1 @@
+n
diff --git a/sql b/sql
index d914525..72402cd 100644
--- a/sql
+++ b/sql
@@ -1 +1 @@
--- x
+++ y
diff --git "a/t\303\244\"b.txt" "b/t\303\244\"b.txt"
index 587be6b..975fbec 100644
--- "a/t\303\244\"b.txt"
+++ "b/t\303\244\"b.txt"
@@ -1 +1 @@
-x
+y
`
  const { files, notes } = readPatch(patch)
  t.strictSame(notes, [])
  t.strictSame(files.map(brief), [
    'old.txt → new b.txt: renamed +2 -0 | 1 line of it could not be read.',
    'nonl: changed +1 -1',
    'sql: changed +1 -1',
    'tä"b.txt: changed +1 -1',
    'del.txt: deleted +0 -1',
    'q b/x: new +1 -0',
    'bin: changed, binary +0 -0',
    'empty: new +0 -0',
    'mode.sh: changed +0 -0 | The mode changed from 100644 to 100755.',
  ])
  t.strictSame(linesOf(files[0]!.hunks), [
    ' 4=4 4',
    ' 5=5 5',
    ' 6=6 6',
    '+7 7',
    '+8 8',
    ' 20=22 20',
  ])
  t.equal(files[0]!.hunks[0]!.header, '@@ -4,3 +4,5 @@ fn main()')
  t.strictSame(linesOf(files[1]!.hunks), ['-1 nonl¬', '+1 nonl2¬'])
  t.strictSame(linesOf(files[2]!.hunks), ['-1 -- x', '+1 ++ y'])
})

t.test('a patch that is not whole', async (t) => {
  const head = 'diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n'
  const cases: [string, string, string[], string[], string[]][] = [
    [
      'cut by casefile',
      `${head}@@ -1,9 +1,9 @@\n a\n-b\n+c\n\n[casefile: the patch was cut here at 5 MiB]\n`,
      ['x: changed +1 -1'],
      [' 1=1 a', '-2 b', '+2 c'],
      ['The patch was cut here at 5 MiB.'],
    ],
    [
      'cut in the head of a file',
      `${head}@@ -1 +1 @@\n-b\n+c\ndiff --git a/y b/y\nindex 1..2 100644\n--- a/y\n`,
      ['x: changed +1 -1', 'y: changed +0 -0'],
      ['-1 b', '+1 c'],
      [],
    ],
    [
      'with fewer lines than its counts, as after a redaction',
      `${head}@@ -1,4 +1,5 @@\n a\n+[redacted]\n@@ -20 +21 @@\n-b\n+c\n`,
      ['x: changed +2 -1'],
      [' 1=1 a', '+2 [redacted]', '-20 b', '+21 c'],
      [],
    ],
    [
      'with a CR before what looks like a file',
      `${head}@@ -1 +1 @@\n-b\rdiff --git a/z b/z\n+c\r@@ -1 +1 @@\n`,
      ['x: changed +1 -1'],
      ['-1 b\rdiff --git a/z b/z', '+1 c\r@@ -1 +1 @@'],
      [],
    ],
    ['nothing', '', [], [], []],
    ['no patch', 'hello\n', [], [], ['The text before the first file is not part of a patch.']],
    [
      'without line numbers',
      `${head}@@ x @@\n-b\n`,
      ['x: changed +0 -0 | A part of it could not be read: its line numbers are missing.'],
      [],
      [],
    ],
  ]
  for (const [name, text, files, lines, notes] of cases) {
    t.test(name, async (t) => {
      const patch = readPatch(text)
      t.strictSame(patch.files.map(brief), files)
      t.strictSame(linesOf(patch.files.flatMap(({ hunks }) => hunks)), lines)
      t.strictSame(patch.notes, notes)
    })
  }
  t.test('whatever the text is, it is read', async (t) => {
    const word = fc.constantFrom(
      'diff --git ',
      'a/x b/x',
      '"a/x',
      '\n',
      '--- a/x',
      '+++ ',
      '/dev/null',
      '@@ -1 +1 @@',
      '+',
      '-',
      'rename from y',
      'new file mode 1',
      'Binary files ',
      '\\ ',
      'a',
      ' ',
      '\r',
      '\\',
      '"',
    )
    const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(''))
    fc.assert(
      fc.property(text, (each) => {
        const patch = `diff --git ${each}`
        t.not(readPatch(patch).files.length, 0, JSON.stringify(patch))
      }),
      { numRuns: 40 },
    )
  })
})

t.test('of a patch without end a part is read, and the rest is counted', async (t) => {
  const head = (name: string) => `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n`
  const one = '@@ -1 +1 @@\n-a\n+b\n'
  t.test('files with as many changes are in the order of their names', async (t) => {
    const { files } = readPatch(['b', 'a', 'c'].map((name) => head(name) + one).join(''))
    t.equal(files.map(({ file }) => file).join(), 'a,b,c')
  })
  t.test('of many files the first', async (t) => {
    const patch = readPatch(['a', 'b', 'c', 'd'].map((name) => head(name) + one).join(''), {
      files: 2,
    })
    t.strictSame(patch.files.map(brief), ['a: changed +1 -1', 'b: changed +1 -1'])
    t.strictSame(patch.notes, ['2 more files are left out here.'])
  })
  t.test('of a large file the beginning, and of all the numbers', async (t) => {
    const large = `${head('a')}@@ -1 +1,6 @@\n 1\n+2\n+3\n-4\n@@ -9 +9 @@\n+5\n`
    const patch = readPatch(large + head('b') + one, { linesOfFile: 3 })
    t.strictSame(patch.files.map(brief), ['a: changed +3 -1', 'b: changed +1 -1'])
    t.strictSame(linesOf(patch.files[0]!.hunks), [' 1=1 1', '+2 2'])
    t.equal(patch.files[0]!.unread, 3)
    const diff = await showDiff(patch, { layout: 'unified' })
    const html = String(DiffView({ diff, ...PLACE }))
    t.match(html, '3 more lines are left out here.')
  })
  t.test(
    'a line that is longer than all there is room for is loaded if the reader asks',
    async (t) => {
      const patch = readPatch(`${head('a')}@@ -1 +1 @@\n-a\n+${'x'.repeat(500_000)}\n`)
      const diff = await showDiff(patch, { layout: 'unified' })
      const html = String(DiffView({ diff, ...PLACE }))
      t.ok(html.length < 4000, `${html.length}`)
      t.match(html, 'Load 2 lines')
    },
  )
})

t.test('two texts', async (t) => {
  t.test('that are equal', async (t) => {
    t.strictSame(diffTexts('a\n', 'a\n'), { hunks: [], additions: 0, deletions: 0 })
  })
  t.test('that differ in a word of a line', async (t) => {
    const lines = '1\n2\n3\n4\n'
    const diff = diffTexts(`${lines}run the tests now\n`, `${lines}run all tests now\nand stop`)!
    t.strictSame(linesOf(diff.hunks), [
      ' 2=2 2',
      ' 3=3 3',
      ' 4=4 4',
      '-5 run the tests now',
      '+5 run all tests now',
      '+6 and stop¬',
    ])
    t.equal(diff.hunks[0]!.header, '@@ -2,4 +2,5 @@')
    t.strictSame([diff.additions, diff.deletions], [2, 1])
    const [before, after] = diff.hunks[0]!.lines.filter(({ parts }) => parts)
    const changed = (line: typeof before) =>
      line!.parts!.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('')
    t.equal(changed(before), 'run [the] tests now')
    t.equal(changed(after), 'run [all] tests now')
  })
  t.test('with little in common have no words marked', async (t) => {
    const diff = diffTexts('alpha beta gamma\n', 'one two three\n')!
    t.notOk(diff.hunks[0]!.lines.some(({ parts }) => parts))
  })
  t.test('put together again from the parts and from the lines', async (t) => {
    const text = fc
      .array(fc.constantFrom('a b c d\n', 'a x c d\n', '\n', 'e', '\r\n'))
      .map((x) => x.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        for (const line of diffTexts(before, after)!.hunks.flatMap(({ lines }) => lines)) {
          if (line.parts) t.equal(line.parts.map((part) => part.text).join(''), line.text)
          const source = (line.kind === '-' ? before : after).split('\n')
          t.equal(source[(line.new ?? line.old)! - 1], line.text)
        }
      }),
    )
  })
  t.test('that are too large, or too different, end in null', async (t) => {
    t.equal(diffTexts('a'.repeat(600_000), 'b'.repeat(600_000)), null)
    t.equal(diffTexts('a\nb\n', 'c\nd\n', { maxEdits: 1 }), null)
    t.ok(diffTexts('a\nb\n', 'c\nb\n', { maxEdits: 2 }))
  })
})

t.test('on the page', async (t) => {
  const file = (name: string, count: number): FileDiff => ({
    file: name,
    id: createHash('sha256').update(name).digest('hex').slice(0, 10),
    from: null,
    status: 'changed',
    binary: false,
    additions: count,
    deletions: 0,
    hunks: [
      {
        header: '@@ -0,0 +1 @@',
        lines: Array.from({ length: count }, (_, index) => ({
          kind: '+',
          text: `line ${index}`,
          old: null,
          new: index + 1,
        })),
      },
    ],
    notes: [],
  })
  const render = (diff: ShownDiff) => String(DiffView({ diff, ...PLACE }))
  const html = async (files: FileDiff[], options: Partial<Parameters<typeof showDiff>[1]> = {}) =>
    render(await showDiff({ files, notes: [] }, { layout: 'unified', ...options }))

  t.test('a file has its name, its numbers and its lines', async (t) => {
    const text = 'a\u202e<b>\x1b'
    const lines: FileDiff['hunks'][number]['lines'] = [
      { kind: '-', text, old: 1, new: null },
      { kind: '+', text: 'a c', old: null, new: 1, noNewline: true },
    ]
    const hunks = [{ header: '@@ -1 +1 @@', lines }]
    const renamed = {
      ...file('new<.txt', 1),
      id: 'f00',
      from: 'old.txt',
      status: 'renamed' as const,
      deletions: 1,
      hunks,
      notes: ['A note.'],
    }
    const shown = await html([renamed])
    t.match(shown, '<section class="file" id="diff-f00" data-file="new&lt;.txt"')
    t.match(shown, '<span class="file-from">old.txt → </span><bdi dir="ltr">new&lt;.txt</bdi>')
    t.match(shown, 'data-copy="new&lt;.txt"')
    t.match(shown, '<span class="file-status renamed">renamed</span>')
    t.match(shown, '<span class="additions">+1</span> <span class="deletions">−1</span>')
    t.match(shown, '<p class="diff-note">A note.</p>')
    t.match(
      shown,
      [
        '<table class="diff" aria-label="Lines of new&lt;.txt"><tbody>',
        '<tr class="hunk"><td colspan="3">@@ -1 +1 @@</td></tr>',
        '<tr class="removed"><td class="line-number" id="diff-f00-L1">',
        '<a href="#diff-f00-L1" tabindex="-1">1</a></td><td class="line-number"></td>',
        '<td class="code" data-side="old" data-line="1">a[U+202E]&lt;b&gt;␛</td></tr>',
        '<tr class="added"><td class="line-number"></td><td class="line-number" id="diff-f00-R1">',
        '<a href="#diff-f00-R1" tabindex="-1">1</a></td>',
        '<td class="code" data-side="new" data-line="1">a c',
        '<span class="no-newline"> (no line end)</span></td></tr></tbody></table>',
      ].join(''),
    )
    const split = await html([renamed], { layout: 'split' })
    t.match(
      split,
      [
        '<td class="code removed" data-side="old" data-line="1">a[U+202E]&lt;b&gt;␛</td>',
        '<td class="line-number" id="diff-f00-R1"><a href="#diff-f00-R1" tabindex="-1">1</a></td>',
        '<td class="code added" data-side="new" data-line="1">a c',
      ].join(''),
    )
  })
  t.test('changed words and code are marked', async (t) => {
    const { hunks } = diffTexts('let total = 1\n', 'let total = 2\n')!
    const shown = await html([{ ...file('a.js', 1), hunks }])
    t.match(
      shown,
      '<span class="hl-keyword">let</span> total = <mark><span class="hl-number">2</span></mark>',
    )
  })
  t.test('so are those of a plan, in the colours of its fences', async (t) => {
    const [before, after] = ['# Do\n\n```sh run\nls -l\n```\n', '# Do\n\n```sh run\nls -a\n```\n']
    const { hunks } = diffTexts(before, after)!
    await paintTexts(hunks, { before, after, language: 'markdown' })
    const shown = String(HunksView({ hunks, label: 'x' }))
    t.match(shown, '<span class="hl-meta">```sh run</span>')
    t.match(shown, '<span class="hl-type">ls</span> -<mark>a</mark>')
  })
  t.test('a file that the page has no room for is loaded when it is needed', async (t) => {
    const files = [file('a', 30), file('b', 30), file('c', 1)]
    const shown = await html(files, { maxLines: 40 })
    t.equal(shown.match(/<tr class="added">/g)?.length, 31)
    t.match(shown, `<a href="/changes?file=${files[1]!.id}" data-load="auto">Load 30 lines</a>`)
  })
  t.test('so is a large one, if the reader asks for it', async (t) => {
    const large = file('a', 1800)
    const shown = await html([large], { layout: 'split' })
    t.match(
      shown,
      `<a href="/changes?file=${large.id}&amp;diff=split" data-load="asked">Load 1,800 lines</a>`,
    )
    t.notMatch(shown, '<table')
    const only = await showFile({ files: [large], notes: [] }, large.id)
    t.equal(only?.file.hunks[0]?.lines.length, 1800)
    t.equal(await showFile({ files: [large], notes: [] }, 'other'), null)
  })
  t.test('exactly so many lines fit', async (t) => {
    const states = async (counts: number[], maxLines?: number) => {
      const files = counts.map((count, index) => file(`${index}`, count - 1)) // and the header
      const options = {
        layout: 'unified' as const,
        ...(maxLines === undefined ? {} : { maxLines }),
      }
      return (await showDiff({ files, notes: [] }, options)).files.map(({ lines }) => lines)
    }
    t.strictSame(await states([400, 401]), ['here', 'asked'])
    t.strictSame(await states([30, 10, 1], 40), ['here', 'here', 'auto'])
    t.strictSame(await states([30, 11, 10], 40), ['here', 'auto', 'here'])
  })
  t.test('a renamed file is outside by either of its names', async (t) => {
    const renamed = { ...file('new', 1), from: 'old' }
    const options = { layout: 'unified' as const, outside: new Set(['old']) }
    const shown = await showDiff({ files: [renamed, { ...file('old', 1) }], notes: [] }, options)
    t.equal(shown.outside.length, 2)
    t.notMatch(render(shown), 'In the scope')
  })
  t.test('files outside the scope come first, and then in the order of the tree', async (t) => {
    const files = [file('z/b', 1), file('z/a/x', 1), file('c', 1), file('y/q/r/s', 1)]
    const diff = await showDiff(
      { files, notes: [] },
      { layout: 'unified', outside: new Set(['z/b']) },
    )
    t.strictSame(
      diff.files.map(({ file }) => file.file),
      ['z/b', 'y/q/r/s', 'z/a/x', 'c'],
    )
    t.strictSame(
      diff.tree.folders.map(({ name }) => name),
      ['y/q/r', 'z/a'],
      'folders with one folder are one',
    )
    const shown = render(diff)
    t.match(shown, /Outside the scope.*z\/b.*In the scope.*y\/q\/r/)
    t.equal(shown.match(/>out of scope</g)?.length, 1)
  })
  t.test('a binary file says so', async (t) => {
    const shown = await html([{ ...file('a', 0), hunks: [], binary: true }])
    t.match(shown, 'A binary file: its content is not shown.')
  })
  t.test('one difference stands without a file', async (t) => {
    const { hunks } = diffTexts('a\n', 'b\n')!
    const shown = String(HunksView({ hunks, label: 'Changes of the plan' }))
    t.match(shown, /^<table class="diff" aria-label="Changes of the plan">/)
    t.notMatch(shown, 'href')
    const cut = String(HunksView({ hunks, label: 'x', maxLines: 1 }))
    t.match(cut, '1 more line is left out here.')
  })
})

const PLACE = {
  address: '/page',
  changes: '/changes',
}

t.test('a line in pieces', async (t) => {
  const word = fc.constantFrom('a', ' ', '\u202e', '"', '\r', '𝒳', '+', 'const', '\t')
  const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(''))
  await t.test('is the line, with its hidden characters made visible', async (t) => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffTexts(`${before}\n`, `${after}\n`)?.hunks.flatMap(({ lines }) => lines)
        for (const line of lines ?? []) {
          const visible = visibleText(line.text)
          const tokens = highlightCode(visible, 'javascript')!
          for (const each of [line, { ...line, tokens }]) {
            const pieces = piecesOf(each).flatMap(({ tokens }) => tokens)
            t.equal(pieces.map(({ text }) => text).join(''), visible)
          }
        }
      }),
    )
  })
  await t.test('of two changes that touch, each beside its own', async (t) => {
    const kinds = ['-', '+', '+', '-'] as const
    const lines = kinds.map((kind, at) => ({ kind, text: 'abcd'[at]!, old: at, new: at }))
    t.strictSame(
      pairLines(lines).map(({ before, after }) => [before?.text, after?.text]),
      [
        ['a', 'b'],
        [undefined, 'c'],
        ['d', undefined],
      ],
    )
  })
  await t.test('stands beside its other side', async (t) => {
    const { hunks } = diffTexts('a\nb\nc\nd\n', 'a\nx\nd\ne\n')!
    t.strictSame(
      pairLines(hunks[0]!.lines).map(({ before, after }) => [before?.text, after?.text]),
      [
        ['a', 'a'],
        ['b', 'x'],
        ['c', undefined],
        ['d', 'd'],
        [undefined, 'e'],
      ],
    )
  })
})
