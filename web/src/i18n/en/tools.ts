export default {
  title: 'Tools',
  intro:
    'Global tool settings. Agents cannot enable a tool that is off here; running agents lose it at their next tool call.',
  search: 'Search tools',
  filter: { label: 'Filter tools', all: 'All', switched: 'Customized', gone: 'Removed' },
  none: 'No matching tools',
  noneText: 'Try another search, or show all tools.',
  setting: { default: 'Default', on: 'On', off: 'Off' },
  settingOf: 'Global setting of {name}',
  why: {
    onByDefault: 'On by default. Agents can disable it.',
    offByDefault: 'Off by default. Agents can enable it.',
    on: 'On globally. Agents can disable it.',
    off: 'Off globally. Agents cannot enable it.',
    gone: 'No longer available. Its setting is kept in case it returns.',
  },
  weaker: {
    refused:
      'This machine does not allow user namespaces, so Landlock and seccomp alone confine programs: they can change .git/hooks and .git/config of a workspace, and have no /dev/shm, terminals or System V IPC.',
    off: 'User namespaces are disabled, so Landlock and seccomp alone confine programs: they can change .git/hooks and .git/config of a workspace, and have no /dev/shm, terminals or System V IPC.',
  },
  gone: 'removed',
  more: 'Details of {name}',
  arguments: 'Arguments:',
  users: 'Status per agent',
  noUsers: 'No agent uses it.',
  changedMeanwhile: '{name} was just changed by someone else. The current setting is shown.',
}
