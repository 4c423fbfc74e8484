import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'outbox', rootDir: import.meta.dirname };
