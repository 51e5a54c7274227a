export default {
  title: 'Tools',
  intro:
    'The switch for everybody. “Off” is final: no agent can switch the tool on again, and runs under way mind it with their next call.',
  search: 'Search tools',
  filter: { label: 'Which tools to show', all: 'All', switched: 'Switched', gone: 'Gone' },
  none: 'No such tools',
  noneText: 'Try other words, or show all.',
  setting: { default: 'Default', on: 'On', off: 'Off' },
  settingOf: '{name} for everybody',
  why: {
    onByDefault: 'On by default; agents can switch it off.',
    offByDefault: 'Off by default; agents can switch it on.',
    on: 'On for everybody; agents can switch it off.',
    off: 'Off for everybody; no agent can switch it on.',
    gone: 'It was there before. Its switch is kept for when it comes back.',
  },
  gone: 'gone',
  more: 'More about {name}',
  arguments: 'Arguments:',
  users: 'What agents make of it',
  noUsers: 'No agent knows it.',
  changedMeanwhile: 'Somebody else has just changed {name}. This is how it stands now.',
}
