import { HunksView } from '../rendering/diff/hunks-view.tsx'
import type { Patch } from '../rendering/diff/patch.ts'
import type { FileDiff } from '../rendering/diff/shape.ts'
import { visibleName } from '../rendering/hidden-characters.ts'

/** Of all files together. */
const MAX_LINES = 2000

/** Changed files, each folded, without anything that needs the console. */
export function PatchView({ files, notes }: Patch) {
  let left = MAX_LINES
  return (
    <>
      {notes.map((note) => (
        <p class="diff-note">{note}</p>
      ))}
      {files.map((file) => {
        const room = left
        left -= file.hunks.reduce((sum, { lines }) => sum + lines.length, 0)
        return <FileView file={file} maxLines={Math.max(0, room)} />
      })}
    </>
  )
}

function FileView({ file, maxLines }: { file: FileDiff; maxLines: number }) {
  const { from, status, additions, deletions, binary, hunks, notes } = file
  const name = visibleName(file.file)
  return (
    <details open>
      <summary>
        {from !== null && `${visibleName(from)} → `}
        {name} {status !== 'changed' && `(${status}) `}
        <span class="additions">+{additions}</span> <span class="deletions">−{deletions}</span>
      </summary>
      {binary && <p class="diff-note">A binary file: its content is not shown.</p>}
      {notes.map((note) => (
        <p class="diff-note">{note}</p>
      ))}
      <HunksView hunks={hunks} label={`Changes in ${name}`} maxLines={maxLines} />
    </details>
  )
}
