import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'database', rootDir: import.meta.dirname };
