import { sizeText } from '../../model/amounts.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import type { Assets } from '../assets.ts'
import { CASES, casePage, changesOf, sessionPage } from '../shell/addresses.ts'
import { Page } from '../shell/page.tsx'
import { FileProblems } from './file-problems.tsx'
import type { MemoryView } from './memory-view.ts'
import { Prose } from './prose.tsx'
import { SourceText } from './source-text.tsx'

interface MemoryPageProps {
  assets: Pick<Assets, 'href' | 'workspace'>
  folder: CaseFolder
  view: MemoryView
  isSource: boolean
}

/** A markdown file of a case, with a place where the script puts its editor. */
export function MemoryPage({ assets, folder, view, isSource }: MemoryPageProps) {
  const { id, title } = folder.case
  const { address, called: shown, file, filename, sealed, path, session, problems } = view
  const live = changesOf(id)
  return (
    <Page title={`${shown}: ${title}`} assets={assets} kind="memory" live={live}>
      <div class="record-head" id="memory-head">
        <nav class="crumbs" aria-label="Where this is">
          <a href={CASES}>Cases</a> /{' '}
          <a href={casePage(id)} dir="auto">
            {title}
          </a>{' '}
          / {shown}
        </nav>
        <h1>{shown}</h1>
        <div class="facts">
          <span>{file ? sizeText(file.size) : 'not written yet'}</span>
          {session !== null && <a href={sessionPage(id, session)}>The page of session {session}</a>}
          <span class="copied-text">
            <code>{path}</code>
            <button type="button" class="quiet needs-script" data-copy={path}>
              Copy<span class="visually-hidden"> the path</span>
            </button>
          </span>
        </div>
        <FileProblems id={id} problems={problems} />
        {sealed && (
          <p class="notice" data-kind="warn">
            {sealed}
          </p>
        )}
      </div>
      {sealed === null && filename !== null && (
        <div
          id="memory-editor"
          data-memory={`/cases/${id}/memory/${encodeURIComponent(filename)}`}
          data-new={file ? undefined : ''}
          data-keep
        />
      )}
      {/* outside of what the script owns, so that each new page says which file it is of */}
      <div id="memory-now" data-etag={file?.etag ?? ''} hidden />
      {file?.text != null && (
        <section class="card memory-text" id="memory-text" aria-label="The text">
          <header>
            <nav class="views" aria-label="How it is shown">
              <a href={address} aria-current={isSource ? undefined : 'page'}>
                Rendered
              </a>
              <a href={`${address}?source`} aria-current={isSource ? 'page' : undefined}>
                Source
              </a>
            </nav>
            {sealed === null && (
              <button type="button" class="needs-script" data-edit-memory data-key="e">
                Edit
              </button>
            )}
          </header>
          {isSource ? (
            <SourceText text={file.text} problems={problems} />
          ) : (
            <Prose id={id} text={file.text} under={1} />
          )}
        </section>
      )}
      {file === null && sealed === null && (
        <section class="card memory-text" id="memory-missing" aria-label="The text">
          <p>There is no such file yet.</p>
          <div>
            <button type="button" class="needs-script" data-edit-memory data-key="e">
              Write it
            </button>
          </div>
        </section>
      )}
    </Page>
  )
}
