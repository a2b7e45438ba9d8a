import { lastOf } from '../../model/trail.ts'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import { CodeName } from '../../rendering/highlight/code-view.tsx'
import {
  applyObjection,
  applyText,
  discardText,
  mergeCommand,
  standingText,
} from '../../worktrees/worktree-texts.ts'
import { sessionApi } from '../shell/addresses.ts'
import { CopiableText } from '../shell/copy-button.tsx'
import { Fact, Listed } from '../shell/facts.tsx'
import { Time } from '../shell/time.tsx'
import type { SessionPageData } from './data.ts'

/** The branch of an isolated session: where its work is, and what the operator can do with it. */
export function WorktreePanel({ data }: { data: SessionPageData }) {
  const { worktree } = data.json
  if (worktree === null) return null
  const { branch, base, behind, onto, conflicts, uncommitted, state, path } = worktree
  const canDiscard = !worktree.is_running && path !== null
  const canApply = !worktree.is_running && state === 'kept' && worktree.head !== null
  const committed = lastOf(data.session.trail, 'worktree_committed')?.fields
  const others = Array.isArray(committed?.others) ? committed.others.map(String) : []
  const notes = [
    ...(typeof committed?.reason === 'string' ? [`At its end: ${committed.reason}.`] : []),
    ...(worktree.reason === null ? [] : [`Git cannot read the worktree: ${worktree.reason}.`]),
  ]
  const objection = canApply ? applyObjection(worktree) : null
  return (
    <section class="card" id="worktree" aria-labelledby="worktree-title">
      <h2 id="worktree-title">Worktree</h2>
      <Standing data={data} />
      <dl class="fact-list">
        <Names label="Branch" names={[branch]} />
        <Fact label="Began from">
          <code title={base}>{base.slice(0, 12)}</code>
          {onto !== null &&
            ` (${visibleText(onto)} ${behind === 0 ? 'has nothing newer' : `is ${behind} ahead`})`}
        </Fact>
        <Names label="Folder" names={path === null ? [] : [path]} />
        <Names label="Other branches" names={others} />
        <Names label="Conflicts" names={conflicts} />
        <Names label="Not committed" names={uncommitted} />
      </dl>
      {notes.map((note) => (
        <p class="notice" data-tone="warn">
          {visibleText(note)}
        </p>
      ))}
      {objection !== null && (
        <p class="notice" data-tone="warn" id="worktree-objection">
          {visibleText(objection)}
        </p>
      )}
      {canApply && conflicts.length > 0 && <MergeCommand branch={branch} />}
      <div class="actions needs-script">
        {canApply && (
          <WorktreeForm
            data={data}
            what="apply"
            label="Apply"
            question={applyText(worktree)}
            disabled={objection !== null}
          />
        )}
        {canDiscard && (
          <WorktreeForm
            data={data}
            what="discard"
            label="Discard"
            question={discardText(worktree)}
          />
        )}
      </div>
      {(canApply || canDiscard) && (
        <p class="muted small">
          {canApply && objection === null && `Apply: ${visibleText(applyText(worktree))} `}
          {canDiscard && `Discard: ${visibleText(discardText(worktree))}`}
        </p>
      )}
    </section>
  )
}

/** Where the work is, and what the history of the case says became of it. */
function Standing({ data: { json, worktreeActs } }: { data: SessionPageData }) {
  const worktree = json.worktree!
  const { applied = null, discarded = null } = worktreeActs ?? {}
  // a folder that is there was made again, or the discard did not end
  const isDiscarded = discarded !== null && worktree.path === null
  const isGone =
    worktree.state === 'missing' && worktree.ahead === 0 && (isDiscarded || applied !== null)
  const hasAll = worktree.state === 'applied' && applied !== null
  return (
    <>
      {!isGone && !hasAll && <p id="worktree-standing">{visibleText(standingText(worktree))}</p>}
      {applied !== null && (
        <p id="worktree-applied">
          Applied (commit <code>{applied.commit}</code>) <Time at={applied.at} />
          {hasAll && `: ${visibleName(worktree.onto ?? 'the working folder')} has all its commits`}.
        </p>
      )}
      {isDiscarded && (
        <p id="worktree-discarded">
          Discarded <Time at={discarded.at} />; {visibleText(discarded.text)}.
        </p>
      )}
      {worktree.path === null && worktree.ahead > 0 && <MergeCommand branch={worktree.branch} />}
    </>
  )
}

function MergeCommand({ branch }: { branch: string }) {
  const command = mergeCommand(branch)
  if (command === null) return null
  return (
    <p class="worktree-merge">
      In a terminal: <CopiableText text={command} what="the command" />
    </p>
  )
}

function Names({ label, names }: { label: string; names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <Fact label={label}>
      <Listed items={names.map((name) => <CodeName name={name} />)} />
    </Fact>
  )
}

interface FormProps {
  data: SessionPageData
  what: 'apply' | 'discard'
  label: string
  question: string
  disabled?: boolean
}

/** Sends the commit that the page shows: another one must be looked at first. */
function WorktreeForm({ data, what, label, question, disabled = false }: FormProps) {
  const { head } = data.json.worktree!
  return (
    <form
      id={`${what}-form`}
      data-send="POST"
      data-confirm={`${label}? ${visibleText(question)}`}
      data-focus="#worktree-title"
      action={`${sessionApi(data.session)}/${what}`}
    >
      {head !== null && <input type="hidden" name="head" value={head} />}
      <button type="submit" class={what === 'discard' ? 'danger' : 'primary'} disabled={disabled}>
        {label}
      </button>
    </form>
  )
}
