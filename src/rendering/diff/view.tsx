import { copiedName, visibleName } from '../hidden-characters.ts'
import { CodeText } from '../highlight/code-view.tsx'
import { LeftOut } from './hunks-view.tsx'
import { SplitLines, UnifiedLines } from './lines.tsx'
import type { DiffLayout, ShownDiff, ShownFile } from './shown-diff.ts'
import type { TreeFolder } from './tree.ts'

export interface DiffViewProps {
  diff: ShownDiff
  /** The page that the diff is on. */
  address: string
  /** The page that has the whole diff, and with `?file=<id>` one file of it. */
  changes: string
}

/** The tree of the changed files, and beside it each of them. client/diff.ts does the rest. */
export function DiffView({ diff, address, changes }: DiffViewProps) {
  const { files, notes, layout } = diff
  return (
    <div class="diff-view stack" data-diff>
      <DiffBar diff={diff} address={address} changes={changes} />
      {notes.map((note) => (
        <p class="diff-note">{note}</p>
      ))}
      <div class="diff-body stack">
        <DiffTree diff={diff} />
        <div class="diff-files stack">
          {files.map((shown) => (
            <FileView shown={shown} layout={layout} changes={changes} />
          ))}
        </div>
      </div>
    </div>
  )
}

const LAYOUTS: Record<DiffLayout, string> = {
  unified: 'Unified',
  split: 'Split',
}

function DiffBar({ diff, address, changes }: DiffViewProps) {
  return (
    <div class="diff-bar row">
      {address !== changes && (
        <a class="small" href={diff.layout === 'split' ? `${changes}?diff=split` : changes}>
          Full width
        </a>
      )}
      <nav class="tabs" aria-label="Layout of the diff">
        {Object.entries(LAYOUTS).map(([layout, label]) => (
          <a
            href={`${address}?diff=${layout}#changes`}
            data-layout={layout}
            aria-current={layout === diff.layout ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
    </div>
  )
}

function DiffTree({ diff: { outside, tree, files } }: { diff: ShownDiff }) {
  if (files.length < 2) return null
  return (
    <nav class="diff-tree" aria-label="Changed files">
      {outside.length > 0 && (
        <>
          <p class="diff-tree-title outside">Outside the scope</p>
          <ul>
            {outside.map((shown) => (
              <TreeFile shown={shown} name={shown.file.file} />
            ))}
          </ul>
          {files.length > outside.length && <p class="diff-tree-title">In the scope</p>}
        </>
      )}
      <TreeList folder={tree} />
    </nav>
  )
}

function TreeList({ folder: { folders, files } }: { folder: TreeFolder<ShownFile> }) {
  if (folders.length + files.length === 0) return null
  return (
    <ul>
      {folders.map((folder) => (
        <li>
          <details open>
            <summary>{visibleName(folder.name)}</summary>
            <TreeList folder={folder} />
          </details>
        </li>
      ))}
      {files.map(({ name, file }) => (
        <TreeFile shown={file} name={name} />
      ))}
    </ul>
  )
}

function TreeFile({ shown: { file }, name }: { shown: ShownFile; name: string }) {
  return (
    <li>
      <a
        href={`#${anchorOf(file)}`}
        class={`tree-file ${file.status}`}
        title={visibleName(file.file)}
      >
        <span class="tree-name">
          <CodeText text={visibleName(name)} />
        </span>
        <Counts file={file} />
      </a>
    </li>
  )
}

function Counts({ file: { additions, deletions } }: { file: ShownFile['file'] }) {
  return (
    <span class="counts">
      {additions > 0 && <span class="additions">{`+${additions}`}</span>}{' '}
      {deletions > 0 && <span class="deletions">{`−${deletions}`}</span>}
    </span>
  )
}

function anchorOf({ id }: { id: string }): string {
  return `diff-${id}`
}

interface FileViewProps {
  shown: ShownFile
  layout: DiffLayout
  changes: string
}

function FileView({ shown, layout, changes }: FileViewProps) {
  const { file, isOutside } = shown
  const name = visibleName(file.file)
  const notes = file.binary
    ? ['A binary file: its content is not shown.', ...file.notes]
    : file.notes
  return (
    <section class="file" id={anchorOf(file)} data-file={file.file} aria-label={name}>
      <div class="file-actions needs-script">
        <button type="button" class="quiet" data-copy={copiedName(file.file)}>
          Copy<span class="visually-hidden"> the path {name}</span>
        </button>
      </div>
      <details class="folding" open>
        <summary data-row>
          <span class="file-name">
            {file.from !== null && <span class="file-from">{`${visibleName(file.from)} → `}</span>}
            <bdi dir="ltr">
              <CodeText text={name} />
            </bdi>
          </span>{' '}
          {file.status !== 'changed' && (
            <>
              <span class={`file-status ${file.status}`}>{file.status}</span>{' '}
            </>
          )}
          {isOutside && (
            <>
              <span class="file-status outside">out of scope</span>{' '}
            </>
          )}
          <Counts file={file} />
        </summary>
        {notes.map((note) => (
          <p class="diff-note">{note}</p>
        ))}
        <FileLines shown={shown} layout={layout} changes={changes} />
      </details>
    </section>
  )
}

/** The lines of a file, or the link that loads them into the page. */
export function FileLines({ shown, layout, changes }: FileViewProps) {
  const { file, lines, lineCount } = shown
  if (lineCount === 0) return null
  const address = `${changes}?file=${file.id}${layout === 'split' ? '&diff=split' : ''}`
  const Lines = layout === 'split' ? SplitLines : UnifiedLines
  return (
    <div class="file-lines" id={`lines-${file.id}`}>
      {lines === 'here' ? (
        <>
          <Lines
            hunks={file.hunks}
            label={`Lines of ${visibleName(file.file)}`}
            anchor={anchorOf(file)}
          />
          {file.unread ? <LeftOut lines={file.unread} /> : null}
        </>
      ) : (
        <p class="diff-note">
          {lines === 'asked' && 'Large diffs are not shown at first. '}
          <a href={address} data-load={lines}>
            Load {lineCount.toLocaleString('en-US')} {lineCount === 1 ? 'line' : 'lines'}
          </a>
        </p>
      )}
    </div>
  )
}
