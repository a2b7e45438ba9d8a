import { caseReport, sessionReport } from './addresses.ts'

/** The report of a case, to print or mail, and a button that copies it, or that of one session, as markdown. */
export function ReportLinks({ caseId, sessionId }: { caseId: string; sessionId?: string }) {
  const markdown = sessionId ? sessionReport(caseId, sessionId) : caseReport(caseId, 'md')
  return (
    <span class="report-links">
      {!sessionId && <a href={caseReport(caseId, 'html')}>Report</a>}
      <button type="button" class="quiet compact needs-script" data-copy-from={markdown}>
        Copy as markdown
      </button>
    </span>
  )
}
