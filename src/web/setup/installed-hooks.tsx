import type { SetupStatus } from '../../init/setup.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'

/** Which hooks to take out. They stay unless that is chosen, also if another agent plans now. */
export function InstalledHooks({ found }: { found: SetupStatus }) {
  const hooks = found.hooks.filter(({ installed }) => installed !== 'unreadable')
  const names = [...new Set(hooks.map(({ agent }) => agent))]
  if (names.length === 0) return null
  return (
    <fieldset class="setup-question stack" id="setup-hooks">
      <legend>Remove hooks?</legend>
      <div class="choices">
        {names.map((name) => {
          const title = found.agents.find(({ id }) => id === name)?.title ?? name
          const isShared = hooks.some(({ agent, place }) => agent === name && place === 'project')
          return (
            <label class="choice">
              <input type="checkbox" name="remove-hooks" value={name} id={`remove-hooks-${name}`} />
              <span>
                <strong>Remove the hooks of {visibleText(title)}</strong>
                <span class="hint">
                  In your terminal it can then change files without an approved plan, and Casefile
                  doesn't record it.
                  {isShared &&
                    " They are in the project's settings: this removes them for everyone."}
                </span>
              </span>
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}
