import { sizeText } from '../../model/amounts.ts'
import type { StepRow } from '../../model/step-rows.ts'
import { visibleOutput } from '../../rendering/hidden-characters.ts'
import { rangesText } from '../../rendering/live-log/byte-ranges.ts'
import { LogLines } from '../log/log-lines.tsx'
import { WrapButton } from '../log/page.tsx'
import { logPage } from '../shell/addresses.ts'
import { TextBox } from '../shell/text-box.tsx'
import type { SessionPageData } from './data.ts'
import type { StepOutput } from './session-output.ts'
import { STEP_STATES } from './step-list.tsx'

/**
 * The output of the steps, as in a terminal. Once the page is loaded client/output.ts owns what is in #terminal: it
 * adds what comes, and refreshes the page without this text from then on.
 */
export function OutputSection({ data }: { data: SessionPageData }) {
  const { output, json, rows } = data
  const hasLogs = output.some(({ artifact, isMissing }) => artifact !== null && !isMissing)
  const wasSilent = output.length > 0 && output.every(({ artifact }) => artifact === null)
  if (!hasLogs && !wasSilent && json.output !== '') return <RecordedOutput text={json.output} />
  if (output.length === 0) return null
  return (
    <section class="card output" id="output" aria-labelledby="output-title">
      <header>
        <h2 id="output-title">Output</h2>
        <span class="muted small error-legend">
          Lines marked <span class="error-sign">err</span> came from standard error
        </span>
      </header>
      <OutputTools />
      <div class="terminal-frame">
        {/* biome-ignore lint/a11y/useSemanticElements: a region of the page that scrolls */}
        <div
          class="terminal"
          id="terminal"
          data-keep
          role="region"
          aria-label="Output of the steps"
          tabindex={0}
        >
          {output.map((step) => (
            <StepPane
              data={data}
              step={step}
              row={rows.find(({ id, log }) => id === step.id && log === step.artifact) ?? null}
            />
          ))}
        </div>
        <button type="button" class="to-end" id="to-end" hidden data-keep>
          Jump to the end
        </button>
      </div>
    </section>
  )
}

/** What client/output-tools.ts does with the output. */
function OutputTools() {
  return (
    <div class="log-tools needs-script row" id="output-tools" data-keep>
      <span id="output-found" class="muted small" role="status" />
      <span class="log-buttons">
        <button type="button" class="compact" id="next-error" data-key="E">
          Next error
        </button>
        <WrapButton />
        <button type="button" class="compact" id="full-screen" aria-pressed="false">
          Full screen
        </button>
      </span>
    </div>
  )
}

interface StepPaneProps {
  data: SessionPageData
  step: StepOutput
  /** Null for an earlier run of a step that ran again. */
  row: StepRow | null
}

/** Finished steps that succeeded are folded if there are several. */
function StepPane({ data, step, row }: StepPaneProps) {
  const { key, id, artifact, isFinished, isSilent, from, to, lines, line, stderr, isMidLine } = step
  const { session, output, query } = data
  const note = noteOn(step, query.withOutput)
  const isCut = lines.length > 0 && (from > 0 || lines[0]!.number !== 1)
  const isFolded = output.length > 1 && isFinished && (row === null || row.state === 'ok')
  const log = {
    artifact,
    from,
    to,
    stderr: rangesText(stderr),
    line,
    isFinished,
    isMidLine,
    isSilent,
  }
  const full = artifact === null ? '' : logPage(session.case_id, session.number, artifact)
  return (
    <section class="pane" id={`pane-${key}`} data-log={JSON.stringify(log)}>
      <div class="pane-log">
        {artifact !== null && !step.isMissing && (
          <a href={full}>
            Show full log{isFinished ? ` (${sizeText(to)})` : ''}
            <span class="visually-hidden"> of {id}</span>
          </a>
        )}
      </div>
      <details class="folding" open={!isFolded}>
        <summary>
          {row && <PaneState row={row} />}
          <h3>{id}</h3>
          {row && row.end !== '' && <span class="pane-note">{row.end}</span>}
          {note !== '' && <span class="pane-note">{note}</span>}
        </summary>
        {artifact !== null && (
          <p class="left-out" hidden={!isCut}>
            Earlier output is in the <a href={full}>full log</a>.
          </p>
        )}
        <pre class="lines log-lines">
          <LogLines lines={lines} prefix={`${key}-`} />
        </pre>
      </details>
    </section>
  )
}

function PaneState({ row: { state } }: { row: StepRow }) {
  const { word, sign } = STEP_STATES[state]
  return (
    <span class={`pane-state ${state}`} role="img" aria-label={word}>
      {sign}
    </span>
  )
}

function noteOn(step: StepOutput, withText: boolean): string {
  const { artifact, isMissing, isFinished, to, lines } = step
  if (isMissing) return 'The log is not on this machine.'
  if (artifact === null) return 'No output.'
  return withText && isFinished && to > 0 && lines.length === 0 ? 'Not shown here.' : ''
}

/** The part that the session's file keeps, if the logs are on another machine. */
function RecordedOutput({ text }: { text: string }) {
  return (
    <section class="card output" id="output" aria-labelledby="output-title">
      <header>
        <h2 id="output-title">Output</h2>
        <span class="muted small">
          Only what the session file keeps; the full logs are not on this machine
        </span>
      </header>
      <TextBox label="Output of the steps" class="terminal recorded">
        {visibleOutput(text)}
      </TextBox>
    </section>
  )
}
