import { sizeText } from '../../model/amounts.ts'
import { memoryPage } from '../shell/addresses.ts'
import { Field } from '../shell/field.tsx'
import { Time } from '../shell/time.tsx'
import type { CaseView } from './case-view.ts'
import { FoldRest } from './fold-rest.tsx'

const MOST_FILES = 15

/** The markdown files of the case, and where they lie. */
export function MemoryCard({ view: { id, files, path } }: { view: CaseView }) {
  return (
    <section class="card" id="memory" aria-labelledby="memory-title">
      <header>
        <h2 id="memory-title">Files</h2>
        <span class="small muted">{files.length}</span>
      </header>
      <FoldRest
        id="more-files"
        items={files}
        most={MOST_FILES}
        label={`All ${files.length} files`}
        list={(some) => (
          <ul class="file-list">
            {some.map(({ filename, kind, size, updated_at }) => (
              <li>
                <a href={memoryPage(id, filename)}>
                  {kind === 'session' ? `sessions/${filename}` : filename}
                </a>
                <span class="small muted">
                  {sizeText(size)} · <Time at={updated_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      />
      <p class="copied-text small">
        <code>{path}</code>
        <button type="button" class="quiet needs-script" data-copy={path}>
          Copy<span class="visually-hidden"> the path of the folder</span>
        </button>
      </p>
      <details class="fold needs-script" id="new-file" data-close>
        <summary class="button compact">New file</summary>
        <form class="form" id="new-file-form" data-opens={memoryPage(id, '')}>
          <Field id="new-file-name" label="Name" hint="Any file name with .md at the end">
            <input
              id="new-file-name"
              aria-describedby="new-file-name-hint"
              name="filename"
              required
              placeholder="notes.md"
              pattern="[^.\/\\][^\/\\]*\.[mM][dD]"
              title="A file name with .md at the end, without / or \\ and no dot in front"
              autocomplete="off"
            />
          </Field>
          <div class="actions">
            <button type="submit">Write it</button>
          </div>
        </form>
      </details>
    </section>
  )
}
