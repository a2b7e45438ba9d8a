import { counted } from '../../model/amounts.ts'
import type { Proof } from '../../model/proof.ts'
import { decorate } from '../../rendering/diff/decorate.ts'
import { HunksView } from '../../rendering/diff/hunks-view.tsx'
import { readPatch } from '../../rendering/diff/patch.ts'
import type { FileDiff } from '../../rendering/diff/shape.ts'
import { type DiffLayout, showDiff } from '../../rendering/diff/shown-diff.ts'
import { DiffView } from '../../rendering/diff/view.tsx'
import { visibleName } from '../../rendering/hidden-characters.ts'
import { CodeText } from '../../rendering/highlight/code-view.tsx'
import { changesPage, proofPage, proofText } from '../shell/addresses.ts'
import { AnsiText, TextBox, terminalClass } from '../shell/text-box.tsx'
import { isPicture, PictureContent, Thumbnail } from './picture.tsx'
import { cutToExcerpt, TextContent, type TextExcerpt } from './proof-text.tsx'
import type { Report } from './report-data.ts'
import { TestTree } from './test-tree.tsx'

/** What a proof shows: the tests of a report, the changes of a diff, or its text. */
type ProofContent =
  | { kind: 'tests'; report: Report }
  | { kind: 'diff'; patch: string }
  | { kind: 'text'; text: string }

const MAX_PATCH = 2 * 1024 * 1024

export function proofContent(content: string, report: Report | null): ProofContent {
  if (report) return { kind: 'tests', report }
  if (isShownAsDiff(content)) return { kind: 'diff', patch: content }
  return { kind: 'text', text: content }
}

/** Whether a proof is shown as a diff. */
export function isShownAsDiff(content: string): boolean {
  return /^diff --git /.test(content) && content.length <= MAX_PATCH
}

/** The part of it that a list of proofs shows. */
export type ProofExcerpt = (
  | { kind: 'tests'; report: Report }
  | { kind: 'diff'; files: readonly FileDiff[]; more: number }
  | { kind: 'text'; text: TextExcerpt }
) & { isComplete: boolean }

const MAX_TESTS = 100
const MAX_FILES = 3
const MAX_LINES = 40

export async function excerptOf(content: ProofContent): Promise<ProofExcerpt> {
  switch (content.kind) {
    case 'tests': {
      const { tests, omitted, artifact } = content.report
      const ordered = [...tests].sort((a, b) => +isFailed(b) - +isFailed(a))
      const left = Math.max(0, ordered.length - MAX_TESTS)
      const report = { artifact, tests: ordered.slice(0, MAX_TESTS), omitted: omitted + left }
      return { kind: 'tests', report, isComplete: report.omitted === 0 }
    }
    case 'diff': {
      const { files: all } = readPatch(content.patch, { linesOfFile: MAX_LINES })
      const files: FileDiff[] = []
      for (const file of all.slice(0, MAX_FILES)) files.push(await decorate(file))
      const more = all.length - files.length
      return { kind: 'diff', files, more, isComplete: more === 0 && files.every(isWhole) }
    }
    case 'text': {
      const text = cutToExcerpt(content.text)
      return { kind: 'text', text, isComplete: text.isComplete }
    }
  }
}

function isFailed({ outcome }: Report['tests'][number]): boolean {
  return outcome === 'failed'
}

function isWhole({ unread, binary }: FileDiff): boolean {
  return !unread && !binary
}

interface ExcerptProps {
  proof: Proof
  excerpt: ProofExcerpt
}

/** A proof in a list: failing tests first, a diff as a diff, a picture as a picture. */
export function ProofShort({ proof, excerpt }: ExcerptProps) {
  if (isPicture(proof)) return <Thumbnail proof={proof} />
  switch (excerpt.kind) {
    case 'tests':
      return (
        <TestTree
          report={excerpt.report}
          id={`proof-tests-${proof.id}`}
          limit={MAX_TESTS}
          more={proofPage(proof.case_id, proof.id)}
        />
      )
    case 'diff':
      return (
        <div class="diff-short stack">
          {excerpt.files.map((file) => (
            <div class="file">
              <p class="file-name">
                <CodeText text={visibleName(file.file)} />{' '}
                <span class="good-text">+{file.additions}</span>{' '}
                <span class="bad-text">−{file.deletions}</span>
              </p>
              <HunksView hunks={file.hunks} label={`Lines of ${visibleName(file.file)}`} />
            </div>
          ))}
          {excerpt.more > 0 && <p class="muted small">and {counted(excerpt.more, 'more file')}</p>}
        </div>
      )
    case 'text': {
      const { first, left, last } = excerpt.text
      return (
        <TextBox
          label={`Excerpt of ${proof.type}`}
          class={`excerpt ${terminalClass(first + last)}`}
        >
          <AnsiText text={first} />
          {left > 0 && (
            <>
              <span class="left-out">{counted(left, 'more line')}</span>
              <AnsiText text={last} />
            </>
          )}
        </TextBox>
      )
    }
  }
}

interface WholeProps {
  proof: Proof
  content: ProofContent
  layout: DiffLayout
}

/** The same on the page of the proof. */
export async function ProofWhole({ proof, content, layout }: WholeProps) {
  if (isPicture(proof)) return <PictureContent proof={proof} />
  const page = proofPage(proof.case_id, proof.id)
  switch (content.kind) {
    case 'tests':
      return <TestTree report={content.report} id="tests" limit={MAX_TESTS_OF_PAGE} isOpen />
    case 'diff': {
      const diff = await showDiff(readPatch(content.patch), { layout })
      return (
        <div id="changes">
          <DiffView diff={diff} address={page} changes={changesPage(page)} />
        </div>
      )
    }
    case 'text':
      return <TextContent content={content.text} plainText={proofText(proof.case_id, proof.id)} />
  }
}

const MAX_TESTS_OF_PAGE = 1000
