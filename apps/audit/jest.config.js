import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'audit', rootDir: import.meta.dirname };
