import type { Child } from 'hono/jsx'
import { LRUCache } from 'lru-cache'
import { stampOf } from '../../files/safe-read.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { counted } from '../../model/amounts.ts'
import { AppError } from '../../model/app-error.ts'
import { outOfScopeFiles } from '../../model/scope.ts'
import type { Candidate, Session } from '../../model/session.ts'
import { lastOf } from '../../model/trail.ts'
import { type Patch, readPatch } from '../../rendering/diff/patch.ts'
import { type DiffLayout, type ShownDiff, showDiff } from '../../rendering/diff/shown-diff.ts'
import { DiffView } from '../../rendering/diff/view.tsx'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { CodeName } from '../../rendering/highlight/code-view.tsx'
import { artifactPath, isArtifactOf, readArtifact } from '../../runners/output/artifacts.ts'
import { changesPage, sessionPage } from '../shell/addresses.ts'

/** All that the page of a large file shows. */
const LIMITS = {
  lines: 60_000,
  linesOfFile: 12_000,
}

/** A parsed patch keeps its text in memory, too. */
const patches = new LRUCache<string, Patch & { characters: number }>({
  max: 20,
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: ({ characters }) => 1 + characters,
})

/** The changed files from the session's patch; null if the patch is not on this machine. */
export async function loadChanges(
  { layout }: Pick<HttpDeps, 'layout'>,
  { case_id, number }: Session,
  candidates: readonly Candidate[],
): Promise<Patch | null> {
  const found = candidates.findLast(({ artifact }) => isPatch(artifact, number))
  if (!found) return null
  const stamp = await stampOf(artifactPath(layout, case_id, found.artifact))
  if (stamp === null) return null
  const key = `${case_id}/${found.artifact} ${stamp.size} ${stamp.mtimeMs} ${stamp.ino}`
  const patch = patches.get(key) ?? (await read(layout, case_id, found.artifact))
  if (patch) patches.set(key, patch)
  return patch
}

async function read(layout: HttpDeps['layout'], caseId: string, artifact: string) {
  try {
    const text = await readArtifact(layout, caseId, artifact, undefined, true)
    return text === null ? null : { ...readPatch(text, LIMITS), characters: text.length }
  } catch (error) {
    if (error instanceof AppError) return null // not the file that the service wrote: a link, or too large
    throw error
  }
}

/** The service's name for it; with a number if the name was taken. */
function isPatch(artifact: string, number: number): boolean {
  return isArtifactOf(artifact, number) && /^\d+-changes(-\d+)?\.patch$/.test(artifact)
}

/** The same, ready to be rendered, with the files outside the scope of the plan first. */
export async function showChanges(
  service: Pick<HttpDeps, 'layout'>,
  session: Session,
  candidates: readonly Candidate[],
  layout: DiffLayout,
): Promise<ShownDiff | null> {
  const patch = await loadChanges(service, session, candidates)
  return patch && showDiff(patch, { layout, outside: new Set(outOfScopeFiles(session.trail)) })
}

interface ChangedFilesProps {
  session: Session
  changes: ShownDiff | null
  /** The URL of the session's comments, if lines can be commented on. */
  comments: string | undefined
  /** Shown above the files. */
  children?: Child
}

/** The files that changed during the run. */
export function ChangedFiles({ session, changes, comments, children }: ChangedFilesProps) {
  const taken = lastOf(session.trail, 'diff_taken')
  if (!taken) return null
  const { diff } = session
  const warnings = Array.isArray(taken.fields.first) ? taken.fields.first.map(String) : []
  const outside = new Set(outOfScopeFiles(session.trail))
  const more = Number(taken.fields.warnings ?? 0) - warnings.length
  return (
    <section
      class="card"
      id="changes"
      aria-labelledby="changes-title"
      data-comments={changes ? comments : undefined}
    >
      <header>
        <h2 id="changes-title">Changed files</h2>
        {diff && diff.file !== '' && (
          <span class="small">
            {counted(diff.files?.length ?? 1, 'file')},{' '}
            <span class="additions">+{diff.additions}</span>{' '}
            <span class="deletions">−{diff.deletions}</span>
          </span>
        )}
      </header>
      {diff === null && (
        <p class="muted">
          The changes are unknown: {visibleText(String(taken.fields.reason ?? 'no reason given'))}.
        </p>
      )}
      {diff?.file === '' && <p class="muted">Nothing changed in the working folder.</p>}
      {warnings.length > 0 && (
        <div class="notice" data-tone="warn">
          <p>Some changes are not shown here:</p>
          <ul>
            {warnings.map((warning) => (
              <li>{visibleText(warning)}</li>
            ))}
            {more > 0 && <li>and {more} more</li>}
          </ul>
        </div>
      )}
      {children}
      {changes ? (
        <DiffView
          diff={changes}
          address={sessionPage(session.case_id, session.number)}
          changes={changesPage(sessionPage(session.case_id, session.number))}
        />
      ) : (
        diff && diff.file !== '' && <FileNames diff={diff} outside={outside} />
      )}
    </section>
  )
}

const MAX_FILES = 500

/** Without the patch only the names are known. */
function FileNames(props: { diff: NonNullable<Session['diff']>; outside: ReadonlySet<string> }) {
  const { diff, outside } = props
  const files = [...(diff.files ?? [diff])].sort(
    (a, b) =>
      Number(outside.has(b.file)) - Number(outside.has(a.file)) ||
      b.additions + b.deletions - (a.additions + a.deletions),
  )
  return (
    <>
      <ul class="file-names stack">
        {files.slice(0, MAX_FILES).map(({ file, additions, deletions }) => (
          <li>
            <CodeName name={file} /> <span class="additions">+{additions}</span>{' '}
            <span class="deletions">−{deletions}</span>
          </li>
        ))}
      </ul>
      {files.length > MAX_FILES && <p class="muted small">and {files.length - MAX_FILES} more</p>}
      <p class="muted small">The patch is not on this machine.</p>
    </>
  )
}
