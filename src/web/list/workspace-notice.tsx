import type { HttpDeps } from '../../http/deps.ts'

/** Problems of the workspace that belong to no case. */
export async function WorkspaceNotice({
  service,
}: {
  service: Pick<HttpDeps, 'problems' | 'watching'>
}) {
  const problems = await service.problems()
  const { trouble } = service.watching()
  return (
    <>
      {trouble && (
        <p class="notice" data-kind="warn" id="watching-notice">
          File changes are detected with a delay: {trouble.message}. To fix it: {trouble.remedy}.
        </p>
      )}
      {problems.length > 0 && (
        <details class="notice" data-kind="warn" id="workspace-notice">
          <summary>
            {problems.length === 1
              ? '1 workspace problem'
              : `${problems.length} workspace problems`}
          </summary>
          <ul>
            {problems.map(({ code, file, line, message }) => (
              <li>
                <code>
                  {file}
                  {line !== null && `:${line}`}
                </code>{' '}
                {message} <span class="muted">({code})</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
