import type { HttpDeps } from '../../http/deps.ts'

/** What is wrong with the workspace and belongs to no case; nothing where all is well. */
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
          Changes of files are noticed late: {trouble.message}. What to do: {trouble.remedy}.
        </p>
      )}
      {problems.length > 0 && (
        <details class="notice" data-kind="warn" id="workspace-notice">
          <summary>
            {problems.length === 1
              ? '1 problem of the workspace'
              : `${problems.length} problems of the workspace`}
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
