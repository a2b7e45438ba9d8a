import { sizeText } from '../../model/amounts.ts'
import type { CaseContents } from '../../model/case-contents.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import type { PageAssets } from '../assets.ts'
import { changesOf, pathTo, sessionPage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { CopiableText } from '../shell/copy-button.tsx'
import { Page } from '../shell/page.tsx'
import { PlanButton } from '../shell/plan-button.tsx'
import { ProblemsList } from '../shell/problems.tsx'
import { Prose } from '../shell/prose.tsx'
import { Tabs } from '../shell/tabs.tsx'
import { NumberedSource } from '../shell/text-box.tsx'
import type { MemoryPageData } from './data.ts'
import type { Runbook } from './runbook.ts'

interface MemoryPageProps {
  assets: PageAssets
  contents: CaseContents
  data: MemoryPageData
  isSource: boolean
  /** What the file plans, if it is a runbook. */
  runbook?: Runbook | undefined
  /** What the file begins with if it does not exist yet. */
  template?: string | undefined
}

/** To render a megabyte takes 0.2 s, in which nothing else is answered. */
const MAX_SHOWN = 512 * 1024

const contentOf = (id: string, filename: string) =>
  `/cases/${id}/memory/${encodeURIComponent(filename)}`

/** A markdown file of a case. client/memory-editor.tsx puts its editor into #memory-editor. */
export function MemoryPage(props: MemoryPageProps) {
  const { assets, contents, data, isSource, runbook, template } = props
  const { id, title, type } = contents.case
  const { url, file, filename, sealed, path, session, problems } = data
  const name = visibleName(data.name)
  const canEdit = sealed === null && filename !== null
  const shown = (file?.text ?? '').slice(0, MAX_SHOWN).toWellFormed()
  return (
    <Page title={`${name}: ${title}`} assets={assets} live={changesOf(id)}>
      <div class="record-head" id="memory-head">
        <Breadcrumbs above={pathTo(id, title)} current={name} />
        <h1>{name}</h1>
        <div class="facts">
          <span>{file ? sizeText(file.size) : 'does not exist yet'}</span>
          {session !== null && <a href={sessionPage(id, session)}>Open session {session}</a>}
          <CopiableText text={path} what="the path" />
        </div>
        <ProblemsList caseId={id} problems={problems} />
        {sealed && (
          <p class="notice" data-tone="warn">
            {sealed}
          </p>
        )}
        {runbook && <RunbookErrors runbook={runbook} />}
        {runbook?.canPlan && (
          // the editor sends it too, for a file that does not exist yet
          <PlanButton
            id="plan-runbook"
            caseId={id}
            caseType={type}
            provider={OWN_PROVIDER}
            hidden={file === null || runbook.errors.length > 0}
          />
        )}
      </div>
      {canEdit && <div id="memory-editor" data-api={contentOf(id, filename)} data-keep />}
      {/* outside of what the script owns, so that a refresh brings the version of the file */}
      <div
        id="memory-now"
        data-etag={file?.etag ?? ''}
        data-template={file === null ? template : undefined}
        hidden
      />
      {file?.text != null && (
        <section class="card memory-text" id="memory-text" aria-label={`Text of ${name}`}>
          <header>
            <Tabs
              label="View"
              tabs={[
                { label: 'Rendered', href: url, isCurrent: !isSource },
                { label: 'Source', href: `${url}?source`, isCurrent: isSource },
              ]}
            />
            {canEdit && <EditButton label="Edit" />}
          </header>
          {shown.length < file.text.length && (
            <p class="notice" data-tone="info">
              Only the first {sizeText(MAX_SHOWN)} are shown here.{' '}
              {filename !== null && <a href={contentOf(id, filename)}>Show the whole file</a>}
            </p>
          )}
          {isSource ? (
            <NumberedSource label={`Source of ${name}`} text={shown} problems={problems} />
          ) : (
            <Prose
              caseId={id}
              text={shown}
              under={1}
              steps={shown === file.text ? runbook?.steps : undefined}
            />
          )}
        </section>
      )}
      {file === null && canEdit && (
        <section class="card memory-text" id="memory-missing" aria-label={`Text of ${name}`}>
          <p>This file does not exist yet.</p>
          <div>
            <EditButton label="Create file" />
          </div>
        </section>
      )}
    </Page>
  )
}

function RunbookErrors({ runbook: { errors } }: { runbook: Runbook }) {
  if (errors.length === 0) return null
  return (
    <div class="notice" data-tone="bad" id="runbook-errors">
      <p>No plan of this runbook can be approved:</p>
      <ul>
        {errors.map(({ line, message }) => (
          <li>
            Line {line}: {visibleText(message)}
          </li>
        ))}
      </ul>
    </div>
  )
}

function EditButton({ label }: { label: string }) {
  return (
    <button type="button" class="needs-script" id="edit-memory" data-key="e">
      {label}
    </button>
  )
}
