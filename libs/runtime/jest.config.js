import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'runtime', rootDir: import.meta.dirname };
